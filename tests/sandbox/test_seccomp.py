"""The filter decides as its table says, on both architectures, for every call there is."""

from __future__ import annotations

import errno
import platform
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.sandbox import seccomp

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def decide(program: bytes, number: int, architecture: int, *arguments: int) -> str:
    """What the kernel would do: a filter is a list of loads, forward jumps and returns."""
    lines = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    given = (*arguments, 0, 0, 0, 0, 0, 0)
    data = {0: number, 4: architecture, **{16 + 8 * at: given[at] & 0xFFFFFFFF for at in range(6)}}
    at = loaded = 0
    while True:
        code, yes, no, value = lines[at]
        if code == 0x20:
            loaded, at = data[value], at + 1
        elif code == 0x06:
            known = {0x7FFF0000: "allow", 0x80000000: "kill"}
            return known.get(value) or errno.errorcode[value & 0xFFFF]
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += 1 + (yes if holds else no)


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(platform, "machine", lambda: request.param)
    return str(request.param)


def test_every_call_gets_the_decision_of_the_table(machine: str) -> None:
    program, column = seccomp.program(allow_exec=True), list(ARCHITECTURES).index(machine)
    refused = {numbers[column] for numbers in seccomp._REFUSED.values()}
    for number in range(451):
        expected = "ENOSYS" if number == 435 else "EPERM" if number in refused else "allow"
        assert decide(program, number, ARCHITECTURES[machine]) == expected, number


def test_another_architecture_is_killed(machine: str) -> None:
    assert decide(seccomp.program(allow_exec=True), 1, 0x40000003) == "kill"


@given(number=st.integers(451, 2**32 - 1))
def test_an_unknown_call_does_not_exist(number: int) -> None:
    assert decide(seccomp.program(allow_exec=True), number, ARCHITECTURES[platform.machine()]) == "ENOSYS"


@pytest.mark.parametrize("flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
def test_a_clone_with_a_new_namespace_is_refused(machine: str, flag: int) -> None:
    number = 56 if machine == "x86_64" else 220
    program = seccomp.program(allow_exec=True)
    assert decide(program, number, ARCHITECTURES[machine], flag | 17) == "EPERM"
    assert decide(program, number, ARCHITECTURES[machine], 0x3D0F00) == "allow"


def test_python_jobs_start_no_program_and_commands_do(machine: str) -> None:
    number = 59 if machine == "x86_64" else 221
    assert decide(seccomp.program(allow_exec=False), number, ARCHITECTURES[machine]) == "EPERM"
    assert decide(seccomp.program(allow_exec=True), number, ARCHITECTURES[machine]) == "allow"


@pytest.mark.parametrize(
    ("flags", "decision"),
    [(0x21, "EPERM"), (0x23, "EPERM"), (0x22, "allow"), (0x01, "allow"), (0x02, "allow"), (0x40022, "EPERM")],
)
def test_mappings_are_refused_where_no_limit_counts_them(machine: str, flags: int, decision: str) -> None:
    number = 9 if machine == "x86_64" else 222
    assert decide(seccomp.program(allow_exec=True), number, ARCHITECTURES[machine], 0, 4096, 3, flags) == decision


@pytest.mark.parametrize(("command", "decision"), [(1031, "EPERM"), (1, "allow")])
def test_a_pipe_keeps_its_size(machine: str, command: int, decision: str) -> None:
    number = 72 if machine == "x86_64" else 25
    assert decide(seccomp.program(allow_exec=False), number, ARCHITECTURES[machine], 1, command) == decision


def test_an_agent_has_the_sockets_that_its_namespace_holds_and_no_door_of_the_kernel(machine: str) -> None:
    program, column = seccomp.agent_program(), list(ARCHITECTURES).index(machine)
    sockets = {family: decide(program, (41, 198)[column], ARCHITECTURES[machine], family) for family in range(46)}
    assert {family for family, decision in sockets.items() if decision == "allow"} == {1, 2, 10, 16}
    for name in ("mount", "unshare", "bpf", "keyctl", "io_uring_setup"):
        assert decide(program, seccomp._REFUSED[name][column], ARCHITECTURES[machine]) == "EPERM"
    assert decide(program, (59, 221)[column], ARCHITECTURES[machine]) == "allow"


def test_an_unknown_processor_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(OSError, match="riscv64"):
        seccomp.program(allow_exec=True)
