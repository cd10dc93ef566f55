"""A machine or a file that fails: one line that says what to do, the right exit code, and nothing lost.

Scenes whose end is that of the process run in one of their own; the others run `whet` in here.
"""

from __future__ import annotations

import os
import pty
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
from command_line import Said, Whet
from hostile import BIDI, ESCAPES, LATE, MARKUP, SUMS, Talk, harmless, hostile, right
from loopback import serving

from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.run.evaluate import run_evaluation

ORACLE = ("-m", "baseline:oracle", "-n", "5", "--run", "r")


def command(*words: str, **options: object) -> Said:
    """`whet` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "whet", *words],
        capture_output=True,
        timeout=60,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    return Said(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def refused(said: Said, *told: str) -> None:
    """One line on standard error, exit code 2."""
    harmless(said)
    assert said.code == 2, said
    assert len(said.err.strip().splitlines()) == 1, said.err
    for words in told:
        assert words in said.err


# --------------------------------------------------------------------------------------------- files that are not right


def environment(body: str) -> str:
    return (
        f"from whet import *\nfrom whet.envs.base import Environment\nclass E(Environment):\n    name = 'e'\n{body}\n"
    )


WHOLE = """
    def size(self, split): return 9
    def label(self, split, index): return Label('k')
    def task(self, split, index): return Task(split, index, Label('k'), (user('1 + 1'),), 2)
    def play(self, task):
        reply = yield from ask(task.messages)
        return solved()
"""


@dataclass(frozen=True)
class BadFile:
    """A file, the command that meets it, and what the line says."""

    name: str
    content: bytes
    words: tuple[str, ...]
    told: str


def code(body: str, told: str) -> BadFile:
    return BadFile("e.py", body.encode(), ("eval", "e.py:E", "-m", "baseline:echo", "-n", "3"), told)


def rows(name: str, content: bytes, told: str) -> BadFile:
    return BadFile(name, content, ("eval", f"data:{name}", "-m", "baseline:echo", "-n", "3"), told)


def config(content: bytes, told: str) -> BadFile:
    return BadFile("c.toml", content, ("eval", "--config", "c.toml"), told)


def playbook(name: str, content: bytes, told: str) -> BadFile:
    return BadFile(name, content, ("eval", SUMS, *ORACLE, "--playbook", name), told)


FILES: dict[str, BadFile] = {
    "no methods": code(environment("    pass"), "e.py:E"),
    "no play": code(environment("    def size(self, split): return 9"), "e.py:E"),
    "no environment": code("class E: pass", "is not an environment"),
    "a constructor that raises": code(
        environment("    def __init__(self): raise ValueError('no [/bold] \\x1b[31m')"), "ValueError: no [/bold]"
    ),
    "a constructor that exits": code(environment("    def __init__(self): raise SystemExit(0)"), "SystemExit"),
    "a missing import": code("import no_such_package_at_all", "no_such_package_at_all"),
    "a syntax error": code("def E(:\n", "SyntaxError"),
    "an import that raises": code("raise RuntimeError('[/bold]\\x1b[31m')", "RuntimeError: [/bold]"),
    "an import that exits": code("import sys\nsys.exit(0)", "SystemExit"),
    "a file that is no text": code("\0\0\0", "e.py"),
    "a size that raises": code(environment(WHOLE + "    def size(self, split): return 1 // 0"), "e.py"),
    "a size of words": code(environment(WHOLE + "    def size(self, split): return 'many'"), "size"),
    "a label that raises": code(
        environment(WHOLE + "    def label(self, split, index): raise KeyError('[/bold]')"), "e.py"
    ),
    "baselines that raise": code(environment(WHOLE + "    def baselines(self): raise OSError('\\x1b[31m')"), "e.py"),
    "a name that acts": code(
        environment(WHOLE)
        .replace("'e'", "'[/bold]\\x1b[31m'")
        .replace("size(self, split): return 9", "size(self, split): return 0"),
        "no tasks",
    ),
    "TOML that is none": config(b"[env\nname=", "not valid TOML"),
    "TOML in Latin-1": config("[env]\nname = 'é'".encode("latin-1"), "not valid TOML"),
    "TOML with a zero byte": config(b"[env]\nname = '\0'", "not valid TOML"),
    "TOML that is deep": config(b"a = " + b"[" * 100_000, "c.toml"),
    "TOML that acts": config(f"[env]\n'{MARKUP}\u202e' = 1".encode(), "env"),
    "TOML with a number without end": config(b"[eval]\nn = " + b"9" * 9000, "c.toml"),
    "a CSV with a zero byte": rows("d.csv", b"question,answer\n1\0,2\n", "zero byte"),
    "a CSV in two encodings": rows("d.csv", "question,answer\né,2\n".encode() + b"\xff,1\n", "mixes encodings"),
    "a ragged CSV": rows("d.csv", b"question,answer\n\x1b[31m1,2,3\n", "fields"),
    "an open quote": rows("d.csv", b'question,answer\n"1,2\n', "quote"),
    "an empty CSV": rows("d.csv", b"", "d.csv"),
    "a CSV of one endless line": rows("d.csv", b"x" * 5_000_000, "d.csv"),
    "JSONL that is none": rows("d.jsonl", b'{"question": "\x1b[31m\n', "is not a JSON object"),
    "JSONL that is deep": rows("d.jsonl", b"[" * 200_000 + b"\n", "is not a JSON object"),
    "JSONL of numbers": rows("d.jsonl", b"1\n2\n", "not an object"),
    "JSON that is deep": rows("d.json", b"[" * 200_000, "is not valid JSON"),
    "JSON that is deep and not UTF-8": rows("d.json", b"[" * 200_000 + b"\xff", "is not valid JSON"),
    "Parquet that is none": rows("d.parquet", b"PAR1\0\0\0garbage", "arquet"),
    "no rows of examples": rows("d.xlsx", b"PK", "cannot read .xlsx"),
    "a playbook of bytes": playbook("p.md", b"\xff\xfe\0", "cannot be read"),
    "a playbook of bad JSON": playbook("p.json", b"{", "not valid JSON"),
    "a playbook that is deep": playbook("p.json", b"[" * 200_000, "not valid JSON"),
    "a playbook of other fields": playbook("p.json", b'{"body": 1}', "body"),
    "a playbook of other JSON": playbook("p.json", b'{"[/bold]\\u001b": 1}', "a playbook is an object"),
}


@pytest.mark.parametrize("bad", FILES.values(), ids=FILES.keys())
def test_a_bad_file_is_one_line_that_names_it(whet: Whet, tmp_path: Path, bad: BadFile) -> None:
    (tmp_path / bad.name).write_bytes(bad.content)
    began = time.monotonic()
    refused(whet(*bad.words), bad.told)
    assert time.monotonic() - began < LATE
    assert not (tmp_path / "runs").exists(), "nothing may be written"


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "--config", "d"),
        ("eval", "d:E", *ORACLE),
        ("eval", "data:d", *ORACLE),
        ("eval", SUMS, *ORACLE, "-p", "d"),
        ("gate", "simulate", "--world", "d"),
        ("train", "d"),
    ],
)
def test_a_folder_where_a_file_is_expected(whet: Whet, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "d").mkdir()
    refused(whet(*words))


def test_a_file_with_a_byte_order_mark_is_read(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(
        b"\xef\xbb\xbfquestion,answer\n" + b"".join(b"%d,%d\n" % (n, n) for n in range(40))
    )
    assert whet("eval", "data:d.csv", "-m", "baseline:echo", "-n", "3").code == 0
    (tmp_path / "c.toml").write_bytes(
        b"\xef\xbb\xbf[env]\nname = '" + SUMS.encode() + b"'\n[target]\nmodel = 'baseline:oracle'\n[eval]\nn = 3\n"
    )
    assert whet("eval", "--config", "c.toml").code == 0


def test_file_names_that_act_do_not(whet: Whet, tmp_path: Path) -> None:
    for name in (f"x{ESCAPES}.csv", f"x{BIDI}.csv", f"x{MARKUP.replace('/', '')}.csv", "x\udcff.csv", "x\ny.csv"):
        (tmp_path / name).write_bytes(b"question\n")
        refused(whet("eval", f"data:{name}", *ORACLE))


def test_a_play_that_breaks_is_a_fault_of_the_environment(whet: Whet, tmp_path: Path) -> None:
    for number, body in enumerate(
        ("raise ValueError('[/bold]\\x1b[31m')", "return 7", "raise SystemExit(3)", "return None")
    ):
        (tmp_path / "e.py").write_text(environment(WHOLE.replace("return solved()", body)))
        said = whet("eval", "e.py:E", "-m", "baseline:echo", "-n", "2", "--run", f"r{number}")
        harmless(said)
        assert said.code == 1, said
        assert "environment_error" in said.out
        harmless(whet("runs", "show", f"r{number}"))


# --------------------------------------------------------------------------------------------- runs that are not right


def _garbage(run: Path) -> None:
    (run / "ledger.sqlite").write_bytes(os.urandom(5000))


def _empty(run: Path) -> None:
    (run / "ledger.sqlite").write_bytes(b"")


def _folder(run: Path) -> None:
    (run / "ledger.sqlite").unlink()
    (run / "ledger.sqlite").mkdir()


def _no_config(run: Path) -> None:
    (run / "config.toml").unlink()


def _bad_config(run: Path) -> None:
    (run / "config.toml").write_bytes(b"\xff[/bold]\x1b[31m")


def _no_playbook(run: Path) -> None:
    (run / "playbook.json").write_bytes(b"{")


def _other_kind(run: Path) -> None:
    with sqlite3.connect(run / "ledger.sqlite") as db:
        db.execute("UPDATE meta SET value = ? WHERE name = 'kind'", (f"{MARKUP}{ESCAPES}",))


def _no_meta(run: Path) -> None:
    with sqlite3.connect(run / "ledger.sqlite") as db:
        db.execute("DELETE FROM meta")


def _bad_record(run: Path) -> None:
    with sqlite3.connect(run / "ledger.sqlite") as db:
        db.execute("UPDATE transcripts SET body = ?", (b"\xff[/bold]",))


def _bad_event(run: Path) -> None:
    with sqlite3.connect(run / "ledger.sqlite") as db:
        db.execute("UPDATE events SET body = ?", (b"[]",))


def _no_table(run: Path) -> None:
    with sqlite3.connect(run / "ledger.sqlite") as db:
        db.execute("DROP TABLE faults")


def _locked_folder(run: Path) -> None:
    shutil.rmtree(run)
    run.write_bytes(b"")


DAMAGES: list[Callable[[Path], None]] = [
    *(_garbage, _empty, _folder, _no_config, _bad_config, _no_playbook, _other_kind, _no_meta, _bad_record, _bad_event),
    *(_no_table, _locked_folder),
]


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs `r` and `sound`, to be copied."""
    base = {"env": {"name": SUMS}, "target": {"model": "baseline:oracle"}, "eval": {"n": 5}}
    place = tmp_path_factory.mktemp("two")
    for name in ("r", "sound"):
        run_evaluation(load_config(EvalConfig, None, base), runs=place, name=name)
    return place


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_costs_one_line_and_no_other_run(
    whet: Whet, tmp_path: Path, two_runs: Path, damage: Callable[[Path], None]
) -> None:
    shutil.copytree(two_runs, tmp_path / "runs")
    damage(tmp_path / "runs" / "r")
    task = orjson.loads((tmp_path / "runs" / "sound" / "results.json").read_bytes())["results"][0]["id"]
    for words in (
        ("runs",),
        ("runs", "show", "r"),
        ("runs", "show", "r", "--task", task),
        ("verify", "r"),
        ("rebuild", "r"),
        ("resume", "r"),
        ("compare", "sound", "r"),
        ("export", "chat", "r"),
        ("gate", "r", "--candidate", "blank"),
    ):
        said = whet(*words)
        harmless(said)
        assert said.code in (0, 1, 2), (words, said)
        if said.code == 2:
            assert len(said.err.strip().splitlines()) == 1, (words, said.err)
    assert "sound" in whet("runs").out


def test_a_ledger_that_another_process_writes_is_refused(whet: Whet, tmp_path: Path) -> None:
    whet("eval", SUMS, *ORACLE)
    with closing(sqlite3.connect(tmp_path / "runs" / "r" / "ledger.sqlite")) as db:
        db.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        refused(whet("resume", "r"), "locked")
        assert time.monotonic() - began < 12


# --------------------------------------------------------------------------------------------- places to write to


SYSTEM = "/usr/bin:/bin:/usr/sbin:/sbin"
"""Where the system's own programs are, whatever the PATH of the tests."""
MOUNT, UMOUNT = (shutil.which(name, path=SYSTEM) for name in ("mount", "umount"))


@contextmanager
def mounted(place: Path, options: str) -> Iterator[Path]:
    """A file system of its own; skipped where none can be mounted."""
    place.mkdir()
    if MOUNT is None or UMOUNT is None:
        pytest.skip("no file system can be mounted here: there is no mount")
    done = subprocess.run([MOUNT, "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no file system can be mounted here: needs root")
    try:
        yield place
    finally:
        subprocess.run([UMOUNT, "-l", str(place)], check=True)


def test_a_full_disk_ends_the_run_in_one_line_and_room_continues_it(whet: Whet, tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "size=400k") as small, serving() as server:
        words = (
            "eval",
            SUMS,
            "-m",
            "openai:any",
            "--base-url",
            server.base_url,
            "-n",
            "400",
            "--runs",
            small,
            "--run",
            "r",
        )
        refused(whet(*words), "full")
        harmless(whet("runs", "--runs", small))
        subprocess.run([str(MOUNT), "-o", "remount,size=20m", str(small)], check=True)
        said = whet(*words)
        assert said.code == 0, said
        assert "400" in said.out


def test_a_disk_that_is_full_from_the_start(whet: Whet, tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "size=4k,nr_inodes=3") as small:
        refused(whet("eval", SUMS, *ORACLE, "--runs", small), "--runs")


def test_a_file_size_limit_is_a_line(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    refused(command("eval", SUMS, *ORACLE, cwd=tmp_path, preexec_fn=limit))


def test_a_read_only_folder(whet: Whet, tmp_path: Path) -> None:
    with mounted(tmp_path / "ro", "ro") as place:
        refused(whet("eval", SUMS, *ORACLE, "--runs", place), "--runs")
        (tmp_path / "d.csv").write_text("question,answer\n" + "1,2\n3,4\n" * 20)
        for words in (
            ("eval", SUMS, *ORACLE, "--json", place / "x.json"),
            ("export", "chat", "r", "--out", place / "x.jsonl"),
            ("compare", "r", "r", "--json", place / "x.json"),
            ("init", place / "x", "--from", "d.csv"),
        ):
            said = whet(*words)
            harmless(said)
            assert said.code == 2, (words, said)
            assert "ead-only" in said.err
        assert (tmp_path / "runs" / "r" / "results.json").is_file(), "what was done is kept"


def test_a_run_on_a_medium_that_became_read_only(whet: Whet, tmp_path: Path) -> None:
    with mounted(tmp_path / "ro", "size=4m") as place:
        whet("eval", SUMS, *ORACLE, "--runs", place)
        subprocess.run([str(MOUNT), "-o", "remount,ro", str(place)], check=True)
        harmless(whet("runs", "show", "r", "--runs", place))
        refused(whet("resume", "r", "--runs", place))
        refused(whet("rebuild", "r", "--runs", place))


def device(place: Path, minor: int) -> Path:
    """A device of our own, like /dev/null (3) or /dev/full (7): the machine's are not put at risk."""
    try:
        os.mknod(place, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        place.open("wb").close()
    except PermissionError:
        pytest.skip("no device can be made here: needs root")
    return place


@pytest.mark.parametrize("target", ["d", "none/there/x.json", "f/x.json", "full", "/proc/x.json"])
def test_a_json_that_cannot_be_written_is_a_line_and_the_run_is_kept(whet: Whet, tmp_path: Path, target: str) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "f").write_text("")
    if target == "full":
        device(tmp_path / "full", 7)
    said = whet("eval", SUMS, *ORACLE, "--json", target)
    refused(said, target)
    assert (tmp_path / "runs" / "r" / "results.json").is_file()


def test_a_json_to_a_device_or_a_link_goes_where_it_points(whet: Whet, tmp_path: Path) -> None:
    null = device(tmp_path / "null", 3)
    assert whet("eval", SUMS, *ORACLE, "--json", "null").code == 0
    assert null.is_char_device()
    (tmp_path / "link").symlink_to("real.json")
    assert whet("eval", SUMS, *ORACLE, "--json", "link").code == 0
    assert (tmp_path / "link").is_symlink()
    assert orjson.loads((tmp_path / "real.json").read_bytes())["pass_rate"] == 1.0


def test_runs_that_is_a_file(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    refused(whet("eval", SUMS, *ORACLE), "--runs")
    harmless(whet("runs"))


_AS_ANOTHER = """
import contextlib, io, json, os, sys
from whet.cli import main

def said(*words):
    out, err, code = io.StringIO(), io.StringIO(), 0
    sys.argv = ["whet", *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()

words = json.loads(sys.argv[1])
assert said(*words)[0] == 0  # as root, so that everything is loaded: the checkout itself may be closed to others
said("runs"), said("runs", "show", "r")
os.setegid(65534)
os.seteuid(65534)
print(json.dumps([said(*words, "--runs", "closed"), said("runs"), said("runs", "show", "r")]))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become another user")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    shutil.copy(SUMS.removesuffix(":Sums"), tmp_path / "sums.py")
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(0o755)
    (tmp_path / "closed").mkdir(mode=0o755)
    words = orjson.dumps(("eval", "sums.py:Sums", *ORACLE)).decode()
    command = [sys.executable, "-c", _AS_ANOTHER, words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    closed, listed, shown = (Said(*told) for told in orjson.loads(done.stdout.splitlines()[-1]))
    refused(closed, "ermission denied", "--runs")
    harmless(listed)
    refused(shown, "r")


# --------------------------------------------------------------------------------------------- process and terminal


def test_too_many_open_files_are_fewer_calls_at_once(tmp_path: Path) -> None:
    def answer(talk: Talk) -> None:
        time.sleep(0.05)
        talk.say(right(talk))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (96, 96))

    with hostile(answer) as server:
        words = ("-m", "openai:m", "--base-url", server.base_url, "-n", "300", "--concurrency", "2048", "--run", "r")
        said = command("eval", SUMS, *words, cwd=tmp_path, preexec_fn=limit)
    harmless(said)
    assert said.code == 0, said
    assert "open files" in said.err
    assert "faults" not in said.out


def test_a_soft_limit_is_raised(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 2048))

    with serving() as server:
        words = ("-m", "openai:m", "--base-url", server.base_url, "-n", "300", "--concurrency", "300", "--run", "r")
        said = command("eval", SUMS, *words, cwd=tmp_path, preexec_fn=limit)
    assert said.code == 0, said
    assert said.err == ""


@pytest.mark.parametrize(
    "environ",
    [
        {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        {"LC_ALL": "nonsense", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"COLUMNS": "0", "LINES": "-5", "TERM": "\x1b[31m"},
        {"TZ": "Nowhere/Nothing", "HOME": ""},
    ],
    ids=["ascii", "no locale", "an odd terminal", "no home"],
)
def test_an_odd_environment_changes_nothing(tmp_path: Path, environ: dict[str, str]) -> None:
    base = {name: value for name, value in os.environ.items() if name not in ("HOME", "PYTHONIOENCODING", "PYTHONUTF8")}
    (tmp_path / "d.csv").write_text("question,answer\n" + "".join(f"é漢\u202e{n},{n}\n" for n in range(40)))
    said = command("eval", "data:d.csv", *ORACLE, cwd=tmp_path, env={**base, **environ})
    harmless(said)
    assert said.code == 0, said
    if "PYTHONIOENCODING" in environ:
        shown = command("envs", "sample", "data:d.csv", cwd=tmp_path, env={**base, **environ})
        harmless(shown)
        assert shown.code == 0, shown


@pytest.mark.parametrize("columns", ["0", "1"])
def test_a_terminal_without_room(tmp_path: Path, columns: str) -> None:
    main, side = pty.openpty()
    environ = {**os.environ, "COLUMNS": columns, "TERM": "xterm"}
    words = [sys.executable, "-m", "whet", "eval", SUMS, *ORACLE]
    done = subprocess.Popen(words, cwd=tmp_path, env=environ, stdout=side, stderr=subprocess.PIPE)
    os.close(side)
    while True:
        try:
            if not os.read(main, 65536):
                break
        except OSError:
            break
    err = done.communicate(timeout=30)[1]
    os.close(main)
    assert (done.returncode, err) == (0, b"")


def test_a_pipe_that_closes_early(tmp_path: Path) -> None:
    """As with `whet envs | head -c 5`."""
    words = [sys.executable, "-m", "whet", "envs"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        done.stdout.read(5)
        done.stdout.close()
        assert done.stderr.read() == b""
    assert done.returncode in (0, 141)


@pytest.mark.parametrize(("redirect", "codes"), [(">/dev/full", {2}), (">&-", {0, 2}), ("2>&-", {0})])
def test_a_standard_stream_that_cannot_be_used(tmp_path: Path, redirect: str, codes: set[int]) -> None:
    line = f"{sys.executable} -m whet eval {SUMS} {' '.join(ORACLE)} {redirect}"
    done = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr
    assert done.returncode in codes, done
    assert (tmp_path / "runs" / "r" / "results.json").is_file()


# --------------------------------------------------------------------------------------------- the way to a server


def _eval(whet: Whet, base_url: str, *more: str) -> Said:
    sets = ("--set", "control.target.attempts=2", "--set", "control.target.timeout=3")
    return whet("eval", SUMS, "-m", "openai:m", "--base-url", base_url, "-n", "2", "--run", "r", *sets, *more)


def test_a_host_without_an_address(whet: Whet) -> None:
    said = _eval(whet, "http://no-such-host.invalid/v1", "--set", "control.target.key_env=")
    harmless(said)
    assert said.code == 1
    assert "no-such-host.invalid" in said.out


def test_tls_to_a_server_that_speaks_none(whet: Whet) -> None:
    with hostile(lambda talk: None, greeting=b"220 mail.example ESMTP\r\n") as server:
        refused(_eval(whet, server.base_url.replace("http:", "https:")), "does not speak TLS")


def test_a_certificate_that_nobody_signed(whet: Whet, tmp_path: Path) -> None:
    import ssl

    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "k.pem",
        "-out",
        "c.pem",
        "-days",
        "1",
    ]
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    subprocess.run([*made, "-subj", "/CN=127.0.0.1"], cwd=tmp_path, capture_output=True, check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
    with hostile(lambda talk: talk.say("1"), tls=context) as server:
        refused(_eval(whet, server.base_url), "its TLS certificate is not trusted")


def test_a_server_at_an_address_of_version_six(whet: Whet) -> None:
    import socket

    try:
        with hostile(lambda talk: talk.say(right(talk)), family=socket.AF_INET6) as server:
            assert _eval(whet, server.base_url).code == 0
    except OSError:
        pytest.skip("this machine has no IPv6")


@pytest.mark.parametrize(
    "proxy", ["http://127.0.0.1:9", "::::", "http://user:pa55word@127.0.0.1:9", "nonsense", "socks5://127.0.0.1:9"]
)
def test_a_proxy_that_does_not_work(whet: Whet, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    said = _eval(whet, "http://service.example/v1", "--set", "control.target.key_env=")
    harmless(said)
    assert said.code in (1, 2), said
    assert "pa55word" not in said.out + said.err
    assert "proxy" in (said.out + said.err).lower()


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "127.0.0.1:9",
        "ftp://x/",
        "http://[::1",
        "http://x:99999999/v1",
        "http://\x1b[31m/",
        "file:///etc/passwd",
        "http://x y/v1",
        "",
    ],
)
def test_an_address_that_is_none(whet: Whet, url: str) -> None:
    said = _eval(whet, url)
    harmless(said)
    assert said.code == 2 or not url
