"""A submission runs each page in a process of its own: what one does is no other's loss and no other's gain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from envs.soup.extractors import Perform, call, score, small_tasks, soup

from whet.envs.soup import runner
from whet.envs.soup.kinds import ListForm, MoneyForm, NumberForm, TextForm, agree
from whet.envs.soup.tools import PageOutput, WebPage, limits_of, look, outputs, submission, told
from whet.sandbox import view

LIMITS = limits_of(8.0, 2_000)
PAGES = [WebPage(f"<p id=a>{number}</p>", {"/x": f"<b>{number}</b>"}) for number in range(3)]


def submitted(perform: Perform, code: str) -> list[PageOutput]:
    result = perform(submission(code, PAGES, "q", {"type": "string"}, LIMITS))
    return outputs(result, len(PAGES), LIMITS)


def looked(perform: Perform, code: str) -> str:
    return told(perform(look(code, PAGES[0], "q", {"type": "string"}, LIMITS)), LIMITS)


def values(found: list[PageOutput]) -> list[Any]:
    return [output.value if not output.error else "error" for output in found]


@pytest.mark.parametrize(
    "code",
    [
        "def extract(html):\n    return BeautifulSoup(html, 'lxml').p.get_text()",
        "print(json.dumps(make_soup().p.text))",
        "extract = lambda html: re.search(r'>(.)<', html)[1]",
        "def extract(html):\n    print('noise')\n    return make_soup().find(id='a').string",
        "def extract(html):\n    return BeautifulSoup(load('/x'), 'html.parser').b.text",
        "print('\"' + make_soup().p.text + '\"')\nraise SystemExit",
    ],
)
def test_a_program_defines_extract_or_prints_json(perform: Perform, code: str) -> None:
    assert values(submitted(perform, code)) == ["0", "1", "2"]


def test_a_crash_a_hang_or_a_kill_costs_its_own_page(perform: Perform) -> None:
    for act in (
        "1 / 0",
        "os.kill(os.getpid(), 9)",
        "os._exit(3)",
        "bytearray(10**10)",
        "sys.stdout.flush() or exit(1)",
        "raise ValueError(chr(0xD800))",
        "return chr(0xD800)",
        "return 10 ** 400",
        "os.makedirs('results.json/a/b'), os.chmod('results.json/a', 0), 1 / 0",
    ):
        code = f"import os, sys\ndef extract(html):\n    if '1' in html: {act}\n    return 'ok'"
        assert values(submitted(perform, code)) == ["ok", "error", "ok"], act


def test_a_page_that_hangs_is_stopped_and_the_others_count(perform: Perform) -> None:
    code = "import time\ndef extract(html):\n    if '1' in html: time.sleep(60)\n    return 'ok'"
    found = submitted(perform, code)
    assert values(found) == ["ok", "error", "ok"]
    assert "no result after" in found[1].error


@pytest.mark.parametrize(
    "code",
    [
        "import builtins\ndef extract(html):\n    builtins.n = getattr(builtins, 'n', 0) + 1\n    return builtins.n",
        "import os\ndef extract(html):\n    n = len([f for f in os.listdir('.') if f.startswith('seen')])\n"
        "    open('seen%d' % n, 'w').write(html)\n    return n + 1",
        "import os, tempfile\ndef extract(html):\n    d = tempfile.gettempdir()\n"
        "    n = len([f for f in os.listdir(d) if f.startswith('seen')])\n"
        "    open(os.path.join(d, 'seen%d' % n), 'w').write(html)\n    return n + 1",
        "import os\ndef extract(html):\n    n = os.path.exists('d/seen')\n    os.makedirs('d', exist_ok=True)\n"
        "    n or open('d/seen', 'w').close()\n    os.chmod('d', 0o500)\n    os.chmod('.', 0o500)\n    return n + 1",
        "import gc\ndef extract(html):\n"
        "    return sum(isinstance(o, dict) and '<p id=a>' in str(o.get('html', '')) for o in gc.get_objects())",
        "import os\ndef extract(html):\n    try:\n        os.fork()\n    except OSError:\n        return 1\n"
        "    os._exit(0)",
        "import os\ndef extract(html):\n    return 1 + sum(os.path.exists(f) for f in ('given.json', 'results.json'))",
    ],
)
def test_no_state_passes_from_page_to_page(perform: Perform, code: str) -> None:
    assert values(submitted(perform, code)) == [1, 1, 1]


@pytest.mark.parametrize(
    "code",
    [
        "def extract(html): return {1, 2}",
        "def extract(html): return float('nan')",
        "def extract(html): return 'x' * 3_000_000",
        "print('no json')",
        "def extract(): return 1",
        "x = ",
        "a = []\na.append(a)\ndef extract(html): return a",
    ],
)
def test_what_is_no_json_is_an_error_of_one_line(perform: Perform, code: str) -> None:
    found = submitted(perform, code)
    assert values(found) == ["error"] * 3
    assert all(len(output.error) <= 320 and "\n" not in output.error[:40] for output in found)


@pytest.mark.parametrize("said", [10**30, 10**400, -(10**400), [10**30], {"a": 10**30}, chr(0xD800), [chr(0xDC00)]])
def test_whatever_is_said_is_compared_without_a_traceback(said: Any) -> None:
    for form in (NumberForm(), MoneyForm(), TextForm(), ListForm(NumberForm())):
        form.problem(said)
        assert not agree(form, said, [1.5] if isinstance(form, ListForm) else 1.5)


def test_what_is_swept_is_the_jobs_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a sandbox has no filesystem of its own, the folder for temporary files is the host's."""
    assert runner.SCRATCH == view.SCRATCH
    play, shared = tmp_path / "play", tmp_path / "shared"
    for folder in (play, shared):
        folder.mkdir()
        (folder / "kept").write_text("x")
    monkeypatch.setenv("TMPDIR", str(shared))
    monkeypatch.setattr("tempfile.tempdir", str(shared))
    monkeypatch.chdir(play)
    assert runner.sweep() == set()
    assert (shared / "kept").exists()


def test_markup_given_to_make_soup_is_told_in_a_short_error(perform: Perform) -> None:
    said = looked(perform, "make_soup(HTML * 4000)")
    assert "make_soup takes the name of a parser" in said
    assert len(said) < 600


def test_a_link_that_leads_nowhere_is_a_page_that_says_so(perform: Perform) -> None:
    assert "404" in looked(perform, "print(load('/nowhere'))")
    assert "<b>0</b>" in looked(perform, "print(load('/x#top'), load('x'), load('./x'))")


def test_no_truth_enters_the_sandbox(perform: Perform) -> None:
    env = soup()
    task = small_tasks(env, 1)[0]
    seen: list[str] = []

    def watched(work: Any) -> Any:
        seen.append(str(work))
        return perform(work)

    assert score(env, task, watched, call("submit", "def extract(html): return 1")).hard == 0
    assert '"answer"' not in seen[0]
    assert task.truth["program"][-60:] not in seen[0]
