"""Environments by address, and what is said about an address or an argument that is wrong."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from whet.envs.arguments import Argument, accept, coerce, type_name
from whet.envs.registry import Address, arguments_at, families, load_environment, parse_args
from whet.errors import WhetError

BROKEN = str(Path(__file__).with_name("broken.py"))
SUMS = str(Path(__file__).parents[2] / "examples" / "sums.py")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("soap", Address("soap")),
        ("reasoning-gym/leg_counting+chain_sum", Address("reasoning-gym", "leg_counting+chain_sum")),
        ("data:my/file.csv", Address("data", source="my/file.csv")),
        ("ordebug/easy:models/", Address("ordebug", "easy", "models/")),
        ("path/to/file.py:Name", Address("Name", path="path/to/file.py")),
    ],
)
def test_an_address_is_a_name_with_variant_and_source_or_a_name_in_a_file(text: str, address: Address) -> None:
    assert Address.parse(text) == address


def test_an_environment_in_a_file_is_built_with_its_arguments() -> None:
    env = load_environment(f"{BROKEN}:make", {"number": 3, "flag": True})
    assert env.about == "3 True"


def test_the_same_file_is_imported_once() -> None:
    assert type(load_environment(f"{SUMS}:Sums")) is type(load_environment(f"{SUMS}:Sums"))


def test_a_file_that_changed_is_imported_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    source = Path(BROKEN).read_text()
    file.write_text(source)
    load_environment(f"{file}:Sound")
    file.write_text(source.replace("sound-1", "sound-2"))
    assert load_environment(f"{file}:Sound").fingerprint == "sound-2"


@pytest.mark.parametrize(
    ("address", "args", "said"),
    [
        ("reasoning_gym", {}, "no environment 'reasoning_gym'. Did you mean 'reasoning-gym'?"),
        ("soap", {}, "List them with: whet envs"),
        ("", {}, "not the address of an environment"),
        (BROKEN, {}, "add the class or function in it"),
        (f"{BROKEN}:", {}, "add the class or function in it"),
        ("no/such/file.py:Name", {}, "cannot read no/such/file.py: No such file"),
        (f"{BROKEN}:Sond", {}, "Did you mean 'Sound'?"),
        (f"{BROKEN}:VALUE", {}, "neither a class nor a function"),
        (f"{BROKEN}:nothing", {}, "is not an environment: it has no name, fingerprint"),
        (f"{BROKEN}:Sound", {"size": 3}, "It takes none."),
        (f"{BROKEN}:make", {}, "needs the argument 'number'"),
        (f"{BROKEN}:make", {"nubmer": 3}, "has no argument 'nubmer'. Did you mean 'number'?"),
        (f"{BROKEN}:make", {"number": "3"}, "argument 'number' takes int, not '3'"),
        (f"{BROKEN}:make", {"number": True}, "argument 'number' takes int, not True"),
    ],
)
def test_a_wrong_address_or_argument_is_one_line_that_says_what_is_near(
    address: str, args: dict[str, Any], said: str
) -> None:
    with pytest.raises(WhetError) as refused:
        load_environment(address, args)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_does_not_import_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import no_such_module")
    with pytest.raises(WhetError, match=r"mine\.py: ModuleNotFoundError: No module named 'no_such_module'"):
        load_environment(f"{file}:Mine")


def test_listing_the_families_imports_none_of_the_packages_they_adapt() -> None:
    code = (
        "import sys; from whet.envs.registry import families; families(); sys.exit('reasoning_gym' in sys.modules or 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_reasoning_gym_is_installed_as_a_family() -> None:
    assert "reasoning-gym" in families()


def test_arguments_of_a_file_s_environment_are_those_it_declares() -> None:
    assert arguments_at(f"{SUMS}:Sums") == (Argument("select", int, 400), Argument("test", int, 400))


def test_values_are_toml_literals_and_otherwise_text() -> None:
    given = ["a=1", "b=0.5", "c=true", "d=[1, 2]", 'e="3"', "f=plain text", "g=", "h=1979-05-27", "i=a=b"]
    expected = {"a": 1, "b": 0.5, "c": True, "d": [1, 2], "e": "3", "f": "plain text", "g": "", "i": "a=b"}
    assert parse_args(given) == {**expected, "h": datetime.date(1979, 5, 27)}


def test_a_dotted_key_nests() -> None:
    assert parse_args(["chain_sum.max_terms=3", "chain_sum.min_terms=2"]) == {
        "chain_sum": {"max_terms": 3, "min_terms": 2}
    }


@pytest.mark.parametrize("item", ["a", "=1", "a.=1", "a..b=1"])
def test_what_is_not_key_equals_value_is_refused(item: str) -> None:
    with pytest.raises(WhetError, match="key=value"):
        parse_args([item])


@pytest.mark.parametrize(
    ("value", "annotation", "expected"),
    [
        (3, int, 3),
        (3, float, 3.0),
        ([1, 2], tuple[int, ...], (1, 2)),
        ((1, 2), list[int], [1, 2]),
        ("none", int | None, None),
        (None, int | None, None),
        (3, int | None, 3),
        ("tag", Literal["tag", "line"], "tag"),
        ("2024-02-29", datetime.date, datetime.date(2024, 2, 29)),
        ({"a": 1}, dict, {"a": 1}),
        (object, Any, object),
    ],
)
def test_a_value_is_brought_to_its_type(value: Any, annotation: Any, expected: Any) -> None:
    assert coerce(value, annotation) == expected


@pytest.mark.parametrize(
    ("value", "annotation", "named"),
    [
        (1.5, int, "int"),
        (True, float, "float"),
        (1, bool, "bool"),
        ("x", Literal["tag", "line"], "'tag' | 'line'"),
        ([1, "a"], list[int], "list of int"),
        ("a", list[str], "list of str"),
        ("a", int | None, "int | none"),
        ("tomorrow", datetime.date, "date"),
    ],
)
def test_a_value_of_another_type_is_refused_with_the_type_it_takes(value: Any, annotation: Any, named: str) -> None:
    with pytest.raises(WhetError, match="argument 'a' takes"):
        accept("here", [Argument("a", annotation)], {"a": value})
    assert type_name(annotation) == named
