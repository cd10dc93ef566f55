"""Changing any constant in an environment's closure makes another environment; changing anything else does not."""

from __future__ import annotations

import ast
import copy
import dataclasses
import enum
import importlib
import importlib.util
import json
import math
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from whet.envs import fingerprint, source_text
from whet.envs.base import Environment
from whet.envs.closure import Closure, Part, closure, part_of, version_of
from whet.envs.fingerprint import code, code_in
from whet.envs.ordebug import cache
from whet.envs.registry import load_environment
from whet.envs.source_text import SourceMemory, facts_of, memory
from whet.errors import WhetError
from whet.models.scripted import Scripted
from whet.run.api import evaluate

ROOT = Path(__file__).parents[2]
FOLDER = tempfile.TemporaryDirectory()
ROWS = shutil.copy(ROOT / "examples" / "tickets.csv", FOLDER.name)

ADDRESSES: dict[str, tuple[str, dict[str, Any]]] = {
    "soup": ("soup", {}),
    "soup@1": ("soup@1", {}),
    "ordebug": ("ordebug", {}),
    "groupqc": ("groupqc", {}),
    "groupqc/photo": ("groupqc/photo", {}),
    "data": (f"data:{ROWS}", {"prompt": "{text}", "answer": "queue"}),
    "reasoning-gym": ("reasoning-gym/chain_sum", {}),
    "sums": (f"{ROOT}/examples/sums.py:Sums", {}),
}
DRAWN = ("soup", "ordebug", "groupqc", "groupqc/photo", "reasoning-gym", "sums")
"""Environments whose tasks are drawn until they belong to a split."""


def environment(name: str) -> Environment:
    address, args = ADDRESSES[name]
    return load_environment(address, args)


def part(name: str) -> Part:
    module = sys.modules[type(environment(name)).__module__]
    assert module.__file__ is not None
    return part_of(Path(module.__file__), module.__name__)


@pytest.fixture(scope="module", autouse=True)
def _own_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Changed sources are remembered in a folder of the tests, not in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        memory.cache_clear()
        yield
    memory.cache_clear()


@pytest.fixture(scope="module")
def closures() -> Mapping[str, Closure]:
    return {name: closure(part(name)) for name in ADDRESSES}


def reading(changed: Mapping[Path, bytes]) -> Callable[[Path], bytes]:
    return lambda path: changed[path] if path in changed else path.read_bytes()


def with_other_constant(source: bytes) -> bytes:
    """The source with its first constant changed; where it has none, with one more."""
    lines = source.decode().split("\n")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign | ast.Return | ast.Compare | ast.keyword):
            for value in ast.iter_child_nodes(node):
                if isinstance(value, ast.Constant) and value.lineno == value.end_lineno:
                    line = lines[value.lineno - 1].encode()
                    other = (repr(value.value) + " is None").encode()
                    changed = line[: value.col_offset] + b"(" + other + b")" + line[value.end_col_offset :]
                    lines[value.lineno - 1] = changed.decode()
                    return "\n".join(lines).encode()
    return source + b"\nADDED = 1\n"


# --------------------------------------------------------------------------------------------- the closure


@pytest.mark.parametrize("name", ADDRESSES)
def test_another_constant_in_any_module_of_the_closure_is_another_environment(
    name: str, closures: Mapping[str, Closure]
) -> None:
    found, where = closures[name], part(name)
    same = []
    for module in found.modules:
        path = found.paths[module]
        changed = reading({path: with_other_constant(path.read_bytes())})
        if closure(where, changed).digest() == found.digest():
            same.append(module)
    assert same == []


@pytest.mark.parametrize("name", ADDRESSES)
def test_another_byte_in_a_file_of_the_package_is_another_environment(
    name: str, closures: Mapping[str, Closure]
) -> None:
    found, where = closures[name], part(name)
    for file in found.files:
        changed = reading({found.paths[file]: found.paths[file].read_bytes() + b" "})
        assert closure(where, changed).digest() != found.digest(), file


@pytest.mark.parametrize("name", ADDRESSES)
def test_other_environments_and_other_rooms_do_not_change_it(name: str, closures: Mapping[str, Closure]) -> None:
    found = closures[name]
    others = [path for path in (ROOT / "whet").rglob("*.py") if path not in found.paths.values()]
    assert len(others) > 200
    changed = reading({path: path.read_bytes() + b"\nADDED = 1\n" for path in others})
    assert closure(part(name), changed).digest() == found.digest()


def test_no_environment_reaches_into_another(closures: Mapping[str, Closure]) -> None:
    packages = {"soup", "soup1", "ordebug", "groupqc", "data", "reasoning_gym"}
    for name, found in closures.items():
        own = name.partition("/")[0].replace("-", "_").replace("@", "")
        reached = {module.split(".")[2] for module in found.modules if module.startswith("whet.envs.")}
        assert reached & packages <= {own}, name


@pytest.mark.parametrize("name", ADDRESSES)
def test_what_every_environment_stands_on_belongs_to_it(name: str, closures: Mapping[str, Closure]) -> None:
    assert {"whet.envs.base", "whet.types", "whet.keys"} <= set(closures[name].modules)


@pytest.mark.parametrize("name", ADDRESSES)
def test_the_environment_has_the_fingerprint_of_its_closure(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = environment(name).fingerprint
    assert environment(name).fingerprint == before
    found = closure(part(name))
    for changed in (
        replace(found, modules={**found.modules, "whet.types": "another"}),
        replace(found, files={**found.files, "a.toml": "another"}),
        replace(found, libraries={**found.libraries, "library": "library==2"}),
    ):
        monkeypatch.setattr(fingerprint, "closure_of", lambda *_, it=changed: it)
        assert environment(name).fingerprint != before


def test_the_colour_of_the_ink_belongs_to_the_photos(closures: Mapping[str, Closure]) -> None:
    found = closures["groupqc/photo"]
    inked = {path: path.read_bytes() for path in found.paths.values() if b"\nINK = (" in path.read_bytes()}
    assert inked
    for path, text in inked.items():
        changed = reading({path: text.replace(b"\nINK = (", b"\nINK = (1")})
        assert closure(part("groupqc/photo"), changed).digest() != found.digest()


@pytest.mark.parametrize("name", DRAWN)
def test_the_order_of_the_splits_belongs_to_whatever_is_drawn(name: str, closures: Mapping[str, Closure]) -> None:
    path = ROOT / "whet" / "envs" / "splits.py"
    text = path.read_bytes()
    other = text.replace(b'("train", "train", "select", "test")', b'("select", "test", "train", "train")')
    assert other != text
    assert closure(part(name), reading({path: other})).digest() != closures[name].digest()


def test_the_cache_of_problems_knows_all_that_makes_one_and_not_how_it_is_asked(
    closures: Mapping[str, Closure],
) -> None:
    makers = closure(Part(cache.GENERATOR))
    known = {module.removeprefix("whet.envs.") for module in makers.modules}
    assert {"splits", "ordebug.algebra", "ordebug.families.story", "ordebug.faults.terms"} <= known
    assert known.isdisjoint(("ordebug.prompt", "ordebug.play", "ordebug.environment", "ordebug.baselines"))
    assert "highspy" in makers.libraries
    assert cache.generator_digest() == makers.digest()


def test_archetypes_that_are_imported_by_name_belong_to_soup(closures: Mapping[str, Closure]) -> None:
    modules = {path.stem for path in (ROOT / "whet/envs/soup/archetypes").glob("*.py")} - {"__init__"}
    assert {f"whet.envs.soup.archetypes.{module}" for module in modules} <= set(closures["soup"].modules)


def test_a_program_that_is_sent_to_the_sandbox_counts_as_a_text(closures: Mapping[str, Closure]) -> None:
    assert "whet/envs/soup/runner.py" in closures["soup"].files


@pytest.mark.parametrize("seed", ["0", "7"])
def test_another_process_that_hashes_in_another_order_gives_the_same(seed: str, tmp_path: Path) -> None:
    names = ["soup", "groupqc", "data", "sums"]
    script = (
        "import sys, json; from whet.envs.registry import load_environment as load\n"
        "print(json.dumps([load(*at).fingerprint for at in json.loads(sys.argv[1])]))"
    )
    asked = json.dumps([ADDRESSES[name] for name in names])
    done = subprocess.run(
        [sys.executable, "-c", script, asked],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert done.stdout.strip() == json.dumps([environment(name).fingerprint for name in names])


# --------------------------------------------------------------------------------------------- libraries


@pytest.mark.parametrize(
    ("name", "libraries"),
    [
        ("soup", {"bs4", "lxml", "html5lib"}),
        ("ordebug", {"highspy", "numpy"}),
        ("sums", set()),
    ],
)
def test_libraries_count_where_the_closure_imports_them(
    name: str, libraries: set[str], closures: Mapping[str, Closure]
) -> None:
    assert set(closures[name].libraries) - {"gurobipy"} == libraries


@pytest.mark.parametrize(
    ("name", "library"),
    [("groupqc/photo", "PIL"), ("groupqc/photo", "noto_cjk_sans_otc"), ("reasoning-gym", "reasoning_gym")],
)
def test_a_library_is_known_by_its_distribution_and_version(
    name: str, library: str, closures: Mapping[str, Closure]
) -> None:
    assert closures[name].libraries[library].count("==") == 1


def test_another_version_of_a_library_is_another_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = closure(part("soup")).digest()
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99")
    assert closure(part("soup")).digest() != before


def test_a_library_that_is_set_aside_does_not_count() -> None:
    found = closure(part("soup"))
    assert (
        found.digest(without=("bs4",))
        == replace(
            found, libraries={name: version for name, version in found.libraries.items() if name != "bs4"}
        ).digest()
    )


# --------------------------------------------------------------------------------------------- a text


@pytest.mark.parametrize(
    "other",
    [
        "LIMIT = 4\ndef f(x, y=2):\n    return x + y\n",
        "LIMIT = 3\ndef f(x, y=3):\n    return x + y\n",
        "LIMIT = 3\ndef f(x, y=2):\n    return x - y\n",
        "LIMIT = 3\n@cached\ndef f(x, y=2):\n    return x + y\n",
        "LIMIT = 3\ndef f(x, y=2) -> int:\n    return x + y\n",
        "LIMIT = 3\ndef f(x, *, y=2):\n    return x + y\n",
        "LIMIT = 3\ndef f(x, y=2):\n    return x + y\nf = f\n",
        "LIMIT = None\ndef f(x, y=2):\n    return x + y\n",
        "LIMIT = '3'\ndef f(x, y=2):\n    return x + y\n",
        "LIMIT = 3.0\ndef f(x, y=2):\n    return x + y\n",
    ],
)
def test_what_runs_enters_the_form(other: str) -> None:
    before = facts_of(b"LIMIT = 3\ndef f(x, y=2):\n    return x + y\n").form
    assert facts_of(other.encode()).form != before


@pytest.mark.parametrize(
    "other",
    [
        "# a remark\nNAMES = ('a', 'b')\n\n\ndef f(x):\n    return x  # another\n",
        'NAMES = (\n    "a",\n    "b",\n)\ndef f(x): return x\n',
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import other\n",
        '"""About it."""\nNAMES = ("a", "b")\n"""Names."""\ndef f(x):\n    """Gives it back."""\n    return x\n',
    ],
)
def test_remarks_and_layout_do_not(other: str) -> None:
    plain = "from typing import TYPE_CHECKING\n" if "TYPE" in other else "NAMES = ('a', 'b')\ndef f(x):\n    return x\n"
    assert facts_of(other.encode()).form == facts_of(plain.encode()).form


def test_every_module_of_ours_written_anew_has_the_same_form(closures: Mapping[str, Closure]) -> None:
    paths = {path for found in closures.values() for path in found.paths.values() if path.suffix == ".py"}
    assert len(paths) > 150
    for path in paths:
        anew = ast.unparse(ast.parse(path.read_bytes()))
        assert facts_of(anew.encode()).form == facts_of(path.read_bytes()).form, path


def test_every_constant_of_every_module_of_ours_enters_its_form(closures: Mapping[str, Closure]) -> None:
    paths = {path for found in closures.values() for path in found.paths.values() if path.suffix == ".py"}
    for path in paths:
        tree = ast.parse(path.read_bytes())
        unread = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
        constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in unread]
        for number, node in enumerate(constants):
            node.value = f"constant {number}."
        form = "\n".join(source_text._walk(tree, {}, []))
        assert [node.lineno for node in constants if node.value not in form] == [], path


def test_fields_that_only_some_versions_of_python_know_do_not_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    source = b"class A:\n    def f(self): return f'a{self!r:>{3}}b' 'c'\n"
    before = facts_of(source).form
    for kind in (ast.FunctionDef, ast.ClassDef):
        monkeypatch.setattr(kind, "_fields", (*kind._fields, "type_params"))
        monkeypatch.setattr(kind, "type_params", [], raising=False)
    source_text._fields.cache_clear()
    assert facts_of(source).form == before
    source_text._fields.cache_clear()


def test_a_text_that_is_no_python_stands_for_its_bytes() -> None:
    assert facts_of(b"def (").form != facts_of(b"def ((").form


def test_a_long_sum_and_a_long_number_have_a_form() -> None:
    source = "x = " + " + ".join(["1"] * 900) + f"\ny = 0x{'f' * 6000}\n"
    assert facts_of(source.encode()).form != facts_of(source.replace("+ 1", "+ 2", 1).encode()).form


# --------------------------------------------------------------------------------------------- memory


def test_facts_are_the_same_from_memory(tmp_path: Path) -> None:
    sources = [f"import a{n}\nfrom . import b\nX = 'c.d:e'\n".encode() for n in range(10)]
    first = SourceMemory(tmp_path / "deep" / "sources.json")
    told = [first.facts(source) for source in sources]
    first.keep()
    again = SourceMemory(tmp_path / "deep" / "sources.json")
    assert [again.facts(source) for source in sources] == told == [facts_of(source) for source in sources]


MAKER = source_text._digest(Path(source_text.__file__).read_bytes()).encode()


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b'{"maker": "another", "facts": {"x": {}}, "libraries": {}}'),
        *(b'{"maker": "%s", "facts": %s, "libraries": {}}' % (MAKER, facts) for facts in (b"[]", b"null", b'{"x": 1}')),
        b'{"maker": "%s", "facts": {}, "libraries": null}' % MAKER,
    ],
)
def test_a_memory_that_cannot_be_read_is_forgotten(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sources.json"
    path.write_bytes(content)
    assert SourceMemory(path).facts(b"X = 1") == facts_of(b"X = 1")
    assert SourceMemory(path).libraries == {}


def test_what_is_remembered_of_libraries_ends_when_another_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    (site / "shared_of_mine").mkdir(parents=True)
    monkeypatch.syspath_prepend(site)
    assert version_of("shared_of_mine") == ""
    for name in ("first", "second"):
        (site / f"{name}-1.dist-info").mkdir()
        (site / f"{name}-1.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 1\n")
    (site / "first-1.dist-info" / "RECORD").write_text("shared_of_mine/a.py,,\n")
    (site / "second-1.dist-info" / "top_level.txt").write_text("shared_of_mine\n")
    assert version_of("shared_of_mine") == "first==1 second==1"


# --------------------------------------------------------------------------------------------- a user's own


ENVIRONMENT = """
from whet import Environment, Label, Task, ask, solved, user

class Mine(Environment):
    name = "mine"

    def __init__(self, size: int = 3, rows: str = "", other=None) -> None:
        self.count = size

    def size(self, split):
        return self.count

    def label(self, split, index):
        return Label("one")

    def task(self, split, index):
        return Task(split, index, Label("one"), (user("say it"),))

    def play(self, task):
        yield from ask(task.messages)
        return solved()
"""


LAZY = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from lazy_of_mine.home import shown
LIMIT = 1
def __getattr__(name): ...
"""
"""A package that hands out names on first use, and has something of its own."""


def mine(folder: Path, text: str = ENVIRONMENT, **args: Any) -> Environment:
    file = folder / "mine.py"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return load_environment(f"{file}:Mine", args)


def test_an_environment_that_sets_no_fingerprint_has_one(tmp_path: Path) -> None:
    env = mine(tmp_path)
    assert env.fingerprint.startswith("mine-")
    assert mine(tmp_path, size=3).fingerprint == env.fingerprint
    assert mine(tmp_path, size=4).fingerprint != env.fingerprint
    assert mine(tmp_path, ENVIRONMENT.replace("say it", "say that")).fingerprint != env.fingerprint
    assert mine(tmp_path, ENVIRONMENT + "\n# a remark\n").fingerprint == env.fingerprint
    assert mine(tmp_path / "elsewhere").fingerprint == env.fingerprint


def test_a_docstring_of_the_users_counts_because_a_library_may_read_it(tmp_path: Path) -> None:
    told = ENVIRONMENT.replace('name = "mine"', '"""Mine."""\n    name = "mine"')
    assert mine(tmp_path, told).fingerprint != mine(tmp_path).fingerprint


def test_a_copy_has_the_same_fingerprint_and_leaves_the_arguments_behind(tmp_path: Path) -> None:
    env = mine(tmp_path, size=5, rows="x" * 10_000)
    copied = pickle.dumps(env)
    assert pickle.loads(copied).fingerprint == env.fingerprint
    assert len(copied) < 5000


def test_what_a_user_overrides_in_an_environment_of_ours_makes_it_another_one(tmp_path: Path) -> None:
    def fingerprint_of(word: str) -> str:
        (tmp_path / "mine.py").write_text(
            "from whet.envs.soup.environment import Soup\n"
            f"class Mine(Soup):\n    def about_it(self):\n        return {word!r}\n"
        )
        return load_environment(f"{tmp_path}/mine.py:Mine").fingerprint

    assert len({fingerprint_of("a"), fingerprint_of("b"), environment("soup").fingerprint}) == 3


def test_a_function_as_an_argument_stands_for_its_code(tmp_path: Path) -> None:
    def fingerprint_with(text: str) -> str:
        file = tmp_path / f"graders_{len(list(tmp_path.iterdir()))}.py"
        file.write_text(text)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
        return mine(tmp_path / "env", other=module.grade).fingerprint

    before = fingerprint_with("LIMIT = 1\ndef grade(x): return x > LIMIT\n")
    assert fingerprint_with("LIMIT = 2\ndef grade(x): return x > LIMIT\n") != before


def test_a_function_without_a_name_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="which no other process finds"):
        mine(tmp_path, other=lambda x: x)


def test_a_fingerprint_may_still_be_set_by_hand(tmp_path: Path) -> None:
    on_it = ENVIRONMENT.replace("self.count = size", "self.count = size; self.fingerprint = 'mine-1'")
    assert mine(tmp_path, on_it).fingerprint == "mine-1"
    on_its_class = ENVIRONMENT.replace("name =", "fingerprint = 'mine-2'; name =")
    assert mine(tmp_path, on_its_class).fingerprint == "mine-2"


def test_an_argument_that_names_a_file_stands_for_its_content(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n")
    (tmp_path / "same.csv").write_text("a,b\n")
    before = mine(tmp_path, rows=str(tmp_path / "rows.csv")).fingerprint
    assert mine(tmp_path, rows=str(tmp_path / "same.csv")).fingerprint == before
    (tmp_path / "rows.csv").write_text("a,c\n")
    assert mine(tmp_path, rows=str(tmp_path / "rows.csv")).fingerprint != before


def test_an_argument_that_names_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "1.txt").write_text("one")
    before = mine(tmp_path, rows=str(folder)).fingerprint
    (folder / "2.txt").write_text("two")
    assert mine(tmp_path, rows=str(folder)).fingerprint != before


def test_an_environment_inside_another_counts_by_its_fingerprint(tmp_path: Path) -> None:
    inner, same, other = (mine(tmp_path, size=size) for size in (1, 1, 2))
    outer = [mine(tmp_path, other=env).fingerprint for env in (inner, same, other)]
    assert outer[0] == outer[1] != outer[2]


def test_an_argument_without_a_fingerprint_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"Mine\(other=\.\.\.\) is of type object, which has no fingerprint"):
        mine(tmp_path, other=object())


class Colour(enum.Enum):
    RED = 1


class Shade(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Strict:
    limit: int = 1


@dataclasses.dataclass
class Lenient:
    limit: int = 1


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (math.inf, None),
        (math.inf, math.nan),
        (math.inf, "inf"),
        (2**70, 2**71),
        ("\ud800", "\ud801"),
        ({1: "a"}, {"1": "a"}),
        (Colour.RED, Shade.RED),
        (Strict(), Lenient()),
        (Strict, Lenient),
        (int, str),
    ],
)
def test_arguments_that_are_not_the_same_make_two_environments(value: Any, other: Any, tmp_path: Path) -> None:
    first, same, second = (mine(tmp_path, other=argument).fingerprint for argument in (value, value, other))
    assert first == same != second


@pytest.mark.parametrize("mark", [".", "..", "/", "./", "../.."])
def test_a_full_stop_or_a_slash_is_a_text_and_no_folder(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fingerprint, "_content", lambda place: pytest.fail(f"{place} was read"))
    assert mine(tmp_path / "env", other=mark).fingerprint != mine(tmp_path / "env", other=";").fingerprint


def test_what_a_constructor_does_with_its_arguments_does_not_change_what_it_was_given(tmp_path: Path) -> None:
    text = ENVIRONMENT.replace("self.count = size", "self.count = other['sizes'].pop()")
    one, two = (mine(tmp_path, text, other={"sizes": [size]}).fingerprint for size in (1, 2))
    assert one != two


@pytest.mark.parametrize("default", ["object()", "lambda x: x", "open"])
def test_a_default_of_any_kind_is_told_by_the_code(default: str, tmp_path: Path) -> None:
    text = ENVIRONMENT.replace("other=None", f"other={default}")
    assert mine(tmp_path, text).fingerprint.startswith("mine-")
    assert mine(tmp_path, text, size=4).fingerprint != mine(tmp_path, text).fingerprint


@pytest.mark.parametrize("how", ["", "slots=True", "frozen=True"])
def test_an_environment_that_is_a_dataclass_is_copied_whole(how: str, tmp_path: Path) -> None:
    fields = "count: int = 3\n    rows: list = dataclasses.field(default_factory=list)\n"
    start, end = (ENVIRONMENT.index(at) for at in ("def __init__", "def size"))
    text = f"import dataclasses\n{ENVIRONMENT[:start]}{fields}\n    {ENVIRONMENT[end:]}"
    env: Any = mine(tmp_path, text.replace("class Mine", f"@dataclasses.dataclass({how})\nclass Mine"), count=5)
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert (copied.count, copied.rows, copied.fingerprint) == (5, [], env.fingerprint)


def test_an_environment_that_a_function_made_counts_by_the_functions_arguments_and_file(tmp_path: Path) -> None:
    (tmp_path / "base_of_mine.py").write_text(ENVIRONMENT)

    def made(text: str, **args: Any) -> str:
        (tmp_path / "make.py").write_text(
            f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom base_of_mine import Mine\n"
            f"def make(size: int = 3):\n    env = Mine(); env.count = {text}\n    return env\n"
        )
        return load_environment(f"{tmp_path}/make.py:make", args).fingerprint

    assert made("size") == made("size", size=3)
    assert len({made("size"), made("size", size=4), made("size + 1")}) == 3


def test_a_function_that_makes_an_environment_of_ours_changes_nothing_about_it(tmp_path: Path) -> None:
    (tmp_path / "make.py").write_text(
        "from whet import load_environment\ndef make(): return load_environment('soup')\n"
    )
    assert load_environment(f"{tmp_path}/make.py:make").fingerprint == environment("soup").fingerprint


def test_what_a_subclass_of_ours_takes_makes_it_another_one(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from whet.envs.soup.environment import Soup\nfrom whet.envs.soup.settings import SoupSettings\n"
        "class Mine(Soup):\n    def __init__(self, limit: int = 3):\n        super().__init__(SoupSettings())\n"
    )
    one, same, two = (load_environment(f"{tmp_path}/mine.py:Mine", {"limit": limit}).fingerprint for limit in (1, 1, 2))
    assert one == same != two


def test_an_environment_that_has_the_name_of_a_test_counts(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "__init__.py").write_text("")
    file = tmp_path / "acme" / "test_bank.py"
    file.write_text("X = 1\n")
    before = code_in(file)
    (tmp_path / "acme" / "test_it.py").write_text("X = 1\n")
    assert code_in(file) == before
    file.write_text("X = 2\n")
    assert code_in(file) != before


def test_a_run_and_a_virtual_environment_inside_a_package_are_no_part_of_it(tmp_path: Path) -> None:
    env = mine(tmp_path)
    (tmp_path / "__init__.py").write_text("")
    before = code_in(tmp_path / "mine.py")
    evaluate(env, Scripted(lambda request: "it"), n=2, runs=tmp_path / "runs")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    (tmp_path / "venv" / "library.py").write_text("")
    assert list((tmp_path / "runs").rglob("*.json"))
    assert code_in(tmp_path / "mine.py") == before


def test_a_package_without_an_init_is_followed_by_its_relative_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "space_of_mine").mkdir()
    (tmp_path / "space_of_mine" / "env.py").write_text(f"from .grading import X\n{ENVIRONMENT}")
    (tmp_path / "space_of_mine" / "grading.py").write_text("X = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    made = importlib.import_module("space_of_mine.env").Mine
    assert code(made) == closure(part_of(tmp_path / "space_of_mine" / "env.py", made.__module__)).digest()
    modules = closure(part_of(tmp_path / "space_of_mine" / "env.py", made.__module__)).modules
    assert {"space_of_mine.env", "space_of_mine.grading"} <= modules.keys()


@pytest.mark.parametrize("text", ["import whet\nwhet.evaluate(0)\n", "from whet import *\n", "import whet.run.api\n"])
def test_a_file_that_runs_what_it_defines_does_not_depend_on_how_it_is_run(text: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"from whet import Environment\n{text}")
    modules = closure(part_of(tmp_path / "mine.py")).modules
    assert {"whet.envs.base", "whet.types"} <= modules.keys()
    rooms = {name.split(".")[1] for name in modules if name.startswith("whet.")}
    assert rooms.isdisjoint(("run", "learn", "gate", "evals", "rollout", "cli", "apps"))


def test_names_that_whet_hands_out_are_followed_to_where_they_live(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import whet\nfrom whet.envs import call\nX = whet.failed\n")
    modules = set(closure(part_of(tmp_path / "mine.py")).modules)
    assert {"mine", "whet.envs.base", "whet.types"} <= modules
    assert modules.isdisjoint(("whet", "whet.envs", "whet.run.api", "whet.gate.simulate"))


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("import helper_of_mine\n", "helper_of_mine.py"),
        ("def f():\n    from helper_of_mine import x\n", "helper_of_mine.py"),
        ("from whet import call\nJOB = call('helper_of_mine:grade')\n", "helper_of_mine.py"),
        ("import importlib\nM = importlib.import_module('helper_of_mine')\n", "helper_of_mine.py"),
        ("from helpers_of_mine.grades import x\n", "helpers_of_mine/grades.py"),
        ("from helpers_of_mine.grades import x\n", "helpers_of_mine/__init__.py"),
        ("from helpers_of_mine.grades import x\n", "helpers_of_mine/words.py"),
        ("from pathlib import Path\nX = Path(__file__).with_name('rows.json').read_text()\n", "rows.json"),
        (
            "from pathlib import Path\nX = Path(__file__).parent / 'helpers_of_mine' / 'a b.json'\n",
            "helpers_of_mine/a b.json",
        ),
        ("import os\nX = os.path.join(__file__, 'helpers_of_mine', 'a b.json')\n", "helpers_of_mine/a b.json"),
        ("from lazy_of_mine import LIMIT\n", "lazy_of_mine/__init__.py"),
        ("from lazy_of_mine import shown\n", "lazy_of_mine/home.py"),
        ("from lazy_of_mine import *\n", "lazy_of_mine/home.py"),
    ],
)
def test_what_a_file_imports_or_names_from_beside_it_belongs_to_it(text: str, file: str, tmp_path: Path) -> None:
    (tmp_path / "helpers_of_mine").mkdir()
    (tmp_path / "helpers_of_mine" / "__init__.py").write_text("X = 1\n")
    (tmp_path / "helpers_of_mine" / "grades.py").write_text("from . import words\nX = 1\n")
    (tmp_path / "helpers_of_mine" / "words.py").write_text("X = 1\n")
    (tmp_path / "helper_of_mine.py").write_text("X = 1\n")
    (tmp_path / "rows.json").write_text("1\n")
    (tmp_path / "helpers_of_mine" / "a b.json").write_text("1\n")
    (tmp_path / "lazy_of_mine").mkdir()
    (tmp_path / "lazy_of_mine" / "__init__.py").write_text(LAZY)
    (tmp_path / "lazy_of_mine" / "home.py").write_text("shown = 1\n")
    (tmp_path / "unrelated.py").write_text("X = 1\n")
    (tmp_path / "mine.py").write_text(text)
    before = code_in(tmp_path / "mine.py")
    (tmp_path / "unrelated.py").write_text("X = 2\n")
    assert code_in(tmp_path / "mine.py") == before
    (tmp_path / file).write_text((tmp_path / file).read_text().replace("1", "2"))
    assert code_in(tmp_path / "mine.py") != before


def test_what_only_the_type_checker_imports_does_not_belong_to_it(tmp_path: Path) -> None:
    (tmp_path / "helper_of_mine.py").write_text("X = 1\n")
    (tmp_path / "mine.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import helper_of_mine\n"
    )
    assert set(closure(part_of(tmp_path / "mine.py")).modules) == {"mine"}


def test_a_package_of_the_users_belongs_together_with_its_files_and_without_its_tests(tmp_path: Path) -> None:
    package = tmp_path / "acme" / "quiz"
    (package / "tests").mkdir(parents=True)
    for file in (
        "__init__.py",
        "environment.py",
        "walked.py",
        "test_it.py",
        "tests/more.py",
        "rows.toml",
        "../__init__.py",
    ):
        (package / file).write_text("")
    (package / "environment.py").write_text("from ..shared import X\n")
    (package.parent / "shared.py").write_text("X = 1\n")
    (package.parent / "other.py").write_text("X = 1\n")
    found = closure(part_of(package / "environment.py"))
    assert set(found.modules) == {"acme", "acme.shared", "acme.quiz", "acme.quiz.environment", "acme.quiz.walked"}
    assert set(found.files) == {"acme/quiz/rows.toml"}


def test_code_that_is_in_no_file_is_refused_in_one_line() -> None:
    made = type("Made", (), {"__module__": "nowhere"})
    with pytest.raises(WhetError, match="Made is in no file"):
        code(made)


@pytest.mark.parametrize("words", [["-"], ["-c", "import sys; exec(sys.stdin.read())"]])
def test_code_that_is_typed_in_is_refused_in_one_line(words: list[str]) -> None:
    asked = f"{ENVIRONMENT}\nfrom whet import WhetError\ntry: Mine().fingerprint\nexcept WhetError as why: print(why)\n"
    done = subprocess.run([sys.executable, *words], input=asked, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Mine is in no file: set its fingerprint by hand")


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(WhetError, match=r"no module 'whet\.envs\.nothing'"):
        code("whet.envs.nothing")
