"""A hostile agent and the host it is let loose on: what it found comes back as one JSON object.

Called as a program, it is the whole scene as another user: `python agent_attack.py FOLDER`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from whet.models import ModelOptions, Request, load_model
from whet.types import Reply, user

KEY = "sk-real-0123456789abcdef0123456789abcdef"

ATTACK = r"""
import glob, json, os, socket, sys, time, urllib.error, urllib.request
target = json.loads(TARGET)
found = {}

def tries(name, action):
    try:
        found[name] = action()
    except Exception as error:
        found[name] = type(error).__name__

def environments():
    seen = b"".join(open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/environ"))
    return target["key"].encode() in seen

def processes():
    return sorted(int(path.split("/")[2]) for path in glob.glob("/proc/[0-9]*"))

def daemons():
    for _ in range(4):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            os.closerange(0, 3)
            with open("beat", "a") as file:
                file.write("x")
            os.execv(sys.executable, [sys.executable, "-c", f"import time; time.sleep(90)  # {target['mark']}"])
    time.sleep(0.3)
    return "started"

def connects(address, family=socket.AF_INET):
    with socket.socket(family) as caller:
        caller.settimeout(2)
        caller.connect(address)
    return "OPEN"

def asks(url, headers):
    request = urllib.request.Request(url, b"{}", {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=5) as reply:
            return [reply.status, reply.read().decode()]
    except urllib.error.HTTPError as error:
        return [error.code, error.read().decode()]

base, token = os.environ.get("WHET_BASE_URL", ""), os.environ.get("SERVICE_KEY", "")
bearer = {"Authorization": f"Bearer {token}"}
tries("environments", environments)
tries("own environment", lambda: [name for name, value in os.environ.items() if target["key"] in value])
tries("processes", processes)
for path in target["paths"]:
    tries(path, lambda: open(path, "rb").read(10).hex())
tries("writes", lambda: open("/usr/x", "w").write("x"))
tries("uid", os.getuid)
tries("kill all", lambda: os.kill(target["host"], 9))
tries("host port", lambda: connects(("127.0.0.1", target["port"])))
tries("abstract socket", lambda: connects(target["abstract"], socket.AF_UNIX))
tries("internet", lambda: connects(("1.1.1.1", 443)))
tries("vsock", lambda: connects((2, 1024), 40))
tries("mount", lambda: os.chroot("/tmp"))
tries("service", lambda: asks(base + "/chat", bearer))
tries("api key header", lambda: asks(base + "/chat", {"x-api-key": token}))
tries("without token", lambda: asks(base + "/chat", {}))
tries("another path", lambda: asks(base.replace("/v1", "") + "/admin", bearer))
tries("dots", lambda: asks(base + "/../admin", bearer))
tries("another host", lambda: asks(base + "/chat", {**bearer, "Host": "evil.example"}))
tries("redirect", lambda: asks(base + "/moved", bearer))
tries("error", lambda: asks(base + "/echo", bearer))
tries("daemons", daemons)
print(json.dumps(found))
"""


class LoopbackService(BaseHTTPRequestHandler):
    """Answers what it was asked with; echoes its key in an error, sends elsewhere, as services do."""

    seen: list[dict[str, str]]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0) or 0)
        self.seen.append({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
        if self.path.endswith("/moved"):
            self.send_response(307)
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            body = b""
        elif self.path.endswith("/echo"):
            self.send_response(401)
            body = f"no such key: {self.headers.get('Authorization')}".encode()
        else:
            self.send_response(200)
            body = b"served"
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


def scene(folder: Path) -> dict[str, Any]:
    """Lets the agent loose; what it found, what the service saw, and what was left behind."""
    ledger = folder / "runs" / "other" / "ledger.sqlite"
    ledger.parent.mkdir(parents=True)
    ledger.write_text("secret of another run")
    os.environ["SERVICE_KEY"] = KEY
    mark = f"left-by-agent-{os.getpid()}-{folder.name}"
    seen: list[dict[str, str]] = []
    server = HTTPServer(("127.0.0.1", 0), type("Service", (LoopbackService,), {"seen": seen}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    with socket.socket(socket.AF_UNIX) as abstract, socket.create_server(("127.0.0.1", 0)) as other:
        abstract.bind(f"\0{mark}")
        abstract.listen()
        paths = [
            "/etc/shadow",
            "/etc/passwd-",
            str(ledger),
            str(Path(__file__).resolve()),
            f"/proc/{os.getpid()}/environ",
        ]
        target = {"key": KEY, "mark": mark, "paths": paths, "host": os.getpid(), "port": other.getsockname()[1]}
        target["abstract"] = f"\0{mark}"
        script = folder / "agent.py"
        script.write_text(ATTACK.replace("TARGET", repr(json.dumps(target))))
        options = ModelOptions(base_url=f"http://127.0.0.1:{port}/v1", key_env="SERVICE_KEY", extra={"time_limit": 60})
        model = load_model(f"agent:{shlex.quote(sys.executable)} {script}", options)
        reply = asyncio.run(_asked(model))
    server.shutdown()
    server.server_close()
    return {
        "found": json.loads(reply.text),
        "service": seen,
        "left": _left(mark),
        "calls": reply.usage.calls,
        "network": [event for event in reply.trace if event.get("type") == "network"],
        "beats": len(reply.files.get("beat", "")),
    }


async def _asked(model: Any) -> Reply:
    try:
        reply: Reply = await model.complete(Request((user("Do it."),)))
        return reply
    finally:
        await model.close()


def _left(mark: str) -> int:
    """Processes on the host that bear the mark."""
    found = 0
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += mark.encode() in file.read_bytes() and b"time.sleep(90)" in file.read_bytes()
        except OSError:
            continue
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(scene(Path(sys.argv[1]))))
