"""The remote sandbox against a stub of its SDK: what is asked for, what comes back, and what is a fault."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType, SimpleNamespace

import pytest

from whet.errors import FaultError, WhetError
from whet.sandbox.jobs import Limits, run_command, run_python
from whet.sandbox.prime import Machine, PrimeSandbox


class Service:
    """What the stub remembers, and how it is to behave."""

    def __init__(self) -> None:
        self.requests: list[SimpleNamespace] = []
        self.uploads: dict[str, bytes] = {}
        self.commands: list[str] = []
        self.deleted: list[str] = []
        self.files = {"/tmp/play/out.txt": "42"}
        self.answer = SimpleNamespace(stdout="hi\n", stderr="", exit_code=0)
        self.failure: Exception | None = None


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    remembered = Service()
    sdk = ModuleType("prime_sandboxes")
    for name in ("APIError", "SandboxNotRunningError", "UploadTimeoutError", "CommandTimeoutError"):
        setattr(sdk, name, type(name, (Exception,), {}))
    sdk.SandboxFileNotFoundError = type("SandboxFileNotFoundError", (sdk.APIError,), {})
    sdk.SandboxOOMError = type("SandboxOOMError", (sdk.SandboxNotRunningError,), {})
    sdk.CreateSandboxRequest = SimpleNamespace

    class Client:
        async def create(self, request):
            remembered.requests.append(request)
            return SimpleNamespace(id="box-1")

        async def wait_for_creation(self, name): ...

        async def upload_bytes(self, name, path, data, filename):
            remembered.uploads[path] = data

        async def execute_command(self, name, command, working_dir=None, timeout=None):
            remembered.commands.append(command)
            if remembered.failure is not None:
                raise remembered.failure
            return remembered.answer

        async def read_file(self, name, path):
            if path not in remembered.files:
                raise sdk.SandboxFileNotFoundError(path)
            return SimpleNamespace(content=remembered.files[path])

        async def delete(self, name):
            remembered.deleted.append(name)

        async def aclose(self): ...

    sdk.AsyncSandboxClient = Client
    monkeypatch.setitem(sys.modules, "prime_sandboxes", sdk)
    return remembered


def perform(work, machine: Machine = Machine()):
    async def story():
        sandbox = PrimeSandbox(machine)
        try:
            return await sandbox.run(work.payload)
        finally:
            await sandbox.close()

    return asyncio.run(story())


def test_a_job_goes_out_and_its_result_comes_back(service: Service) -> None:
    result = perform(run_python("print('hi')", files={"in.txt": "x"}, stdin="s", collect=["out.txt", "none"]))
    assert (result.error, result.value["stdout"], result.value["files"]) == ("", "hi\n", {"out.txt": "42"})
    assert service.uploads == {"/tmp/play/in.txt": b"x", "/tmp/job/main.py": b"print('hi')", "/tmp/job/stdin": b"s"}


def test_the_network_is_off_unless_asked_for(service: Service) -> None:
    perform(run_python("1"))
    perform(run_python("1"), Machine(network=True))
    assert [request.network_allowlist for request in service.requests] == [[], None]


def test_the_walls_say_whether_the_network_is_open(service: Service) -> None:
    assert PrimeSandbox().walls().missing == ()
    assert PrimeSandbox(Machine(network=True)).walls().missing == ("network",)


def test_a_command_is_quoted_for_the_shell(service: Service) -> None:
    perform(run_command(["echo", "a b; rm -rf /"], limits=Limits(wall=3.0)))
    assert "timeout -s KILL 3 " in service.commands[0]
    assert "rm -rf /'" in service.commands[0]


def test_a_job_that_ran_out_of_time_has_a_deadline(service: Service) -> None:
    service.answer = SimpleNamespace(stdout="early", stderr="", exit_code=137)
    assert (perform(run_python("1")).error, perform(run_python("1")).value["stdout"]) == ("deadline", "early")


def test_a_machine_out_of_memory_is_the_jobs_doing(service: Service) -> None:
    service.failure = sys.modules["prime_sandboxes"].SandboxOOMError("oom")
    assert perform(run_python("1")).error == "memory"


def test_a_failing_service_is_a_fault_and_the_machine_is_deleted(service: Service) -> None:
    service.failure = sys.modules["prime_sandboxes"].APIError("503")
    with pytest.raises(FaultError, match="sandbox at prime: APIError: 503"):
        perform(run_python("1"))
    assert service.deleted == ["box-1"]


def test_a_missing_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prime_sandboxes", None)
    with pytest.raises(WhetError, match=r"pip install .*\[prime\]"):
        PrimeSandbox()


def test_a_bad_job_never_leaves_this_machine(service: Service) -> None:
    assert perform(run_python("1", files={"../x": ""})).error == "refused"
    assert service.requests == []
