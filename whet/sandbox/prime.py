"""A remote sandbox: each job in a fresh virtual machine of Prime Intellect's, through its SDK (`prime-sandboxes`).

The machine is the wall. It has no network unless asked for one, is deleted after its job, and ends by itself should we
not be there to delete it.
"""

from __future__ import annotations

import importlib
import posixpath
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whet.errors import FaultError, WhetError
from whet.extras import install
from whet.sandbox.base import Wall, Walls
from whet.sandbox.jobs import checked
from whet.types import Fault, WorkResult

_FOLDER = "/tmp/play"
_PROGRAM, _STDIN = "/tmp/job/main.py", "/tmp/job/stdin"


@dataclass(frozen=True, slots=True)
class Machine:
    """What to ask for. `network` opens the way out; nothing else does."""

    image: str = "python:3.11-slim"
    cores: float = 1.0
    memory_gb: float = 1.0
    minutes: int = 15
    network: bool = False


class PrimeSandbox:
    """Runs jobs on Prime Intellect's machines; the key is the one that the SDK finds."""

    def __init__(self, machine: Machine = Machine()) -> None:
        try:
            self._sdk: Any = importlib.import_module("prime_sandboxes")
        except ImportError:
            raise WhetError(f"the prime sandbox needs its SDK; install it with: {install('prime')}") from None
        self._machine = machine
        self._client: Any = None

    def walls(self) -> Walls:
        network = "asked for by the configuration" if self._machine.network else "the allowlist is empty"
        return Walls(
            "prime",
            (
                Wall("machine", True, "a virtual machine elsewhere, deleted after its job"),
                Wall("network", not self._machine.network, network),
            ),
        )

    async def run(self, payload: Mapping[str, Any]) -> WorkResult:
        job = checked(payload)
        if isinstance(job, WorkResult):
            return job
        client = self._connected()
        failures = (self._sdk.APIError, self._sdk.SandboxNotRunningError, self._sdk.UploadTimeoutError, OSError)
        try:
            name = (await client.create(self._request())).id
        except failures as error:
            raise _fault(error) from None
        try:
            await client.wait_for_creation(name)
            return await self._job(client, name, job)
        except failures as error:
            raise _fault(error) from None
        finally:
            await client.delete(name)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _connected(self) -> Any:
        if self._client is None:
            self._client = self._sdk.AsyncSandboxClient()
        return self._client

    def _request(self) -> Any:
        return self._sdk.CreateSandboxRequest(
            name="whet",
            docker_image=self._machine.image,
            cpu_cores=self._machine.cores,
            memory_gb=self._machine.memory_gb,
            timeout_minutes=self._machine.minutes,
            network_allowlist=None if self._machine.network else [],
        )

    async def _job(self, client: Any, name: str, job: Mapping[str, Any]) -> WorkResult:
        limits = job["limits"]
        brought = {posixpath.join(_FOLDER, file): text for file, text in job["files"].items()}
        brought |= {_PROGRAM: job.get("python", ""), _STDIN: job["stdin"]}
        for path, text in brought.items():
            await client.upload_bytes(name, path, text.encode(), posixpath.basename(path))
        began = time.monotonic()
        try:
            done = await client.execute_command(name, command_line(job), _FOLDER, timeout=int(limits["wall"]) + 5)
        except self._sdk.SandboxOOMError:
            return _ended(-9, "", "", {}, began, limits, "memory", "the machine ran out of memory")
        except self._sdk.CommandTimeoutError:
            return _ended(-9, "", "", {}, began, limits, "deadline", f"not done after {limits['wall']:g} s")
        error, detail = ("deadline", f"not done after {limits['wall']:g} s") if done.exit_code == 137 else ("", "")
        files = {}
        for file in job["collect"]:
            try:
                files[file] = (await client.read_file(name, posixpath.join(_FOLDER, file))).content
            except self._sdk.SandboxFileNotFoundError:
                continue
        return _ended(done.exit_code, done.stdout, done.stderr, files, began, limits, error, detail)


def command_line(job: Mapping[str, Any]) -> str:
    """The job as a line for the machine's shell: within its limits, killed with all it started when time is up."""
    limits = job["limits"]
    argv = ["python", _PROGRAM] if "python" in job else job["argv"]
    set_limits = (
        f"ulimit -t {int(limits['cpu']) + 1} -n {int(limits['open_files'])} -f {int(limits['file_size']) // 512} -c 0"
        f" -d {int(limits['memory']) // 1024}"
    )
    inner = f"{set_limits} && exec {shlex.join(argv)}"
    wall = f"{limits['wall']:g}"
    return f"mkdir -p {_FOLDER} && cd {_FOLDER} && timeout -s KILL {wall} bash -c {shlex.quote(inner)} < {_STDIN}"


def _ended(
    code: int,
    stdout: str,
    stderr: str,
    files: Mapping[str, str],
    began: float,
    limits: Mapping[str, float],
    error: str,
    detail: str,
) -> WorkResult:
    most = int(limits["output"])
    value = {
        "exit_code": code,
        "stdout": stdout[:most],
        "stderr": stderr[:most],
        "files": dict(files),
        "truncated": len(stdout) > most or len(stderr) > most,
        "seconds": round(time.monotonic() - began, 4),
    }
    return WorkResult(value, error, detail)


def _fault(error: BaseException) -> FaultError:
    return FaultError(Fault("sandbox", "prime", f"{type(error).__name__}: {error}"))
