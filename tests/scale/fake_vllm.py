"""A `vllm` for tests: writes down what it was called with, and behaves as `FAKE_VLLM` says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

words = sys.argv[1:]
folder = Path(os.environ["FAKE_VLLM_FOLDER"])
mood = os.environ.get("FAKE_VLLM", "")
port = int(words[words.index("--port") + 1])
(folder / "words.json").write_text(json.dumps(words))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])  # a worker, as vLLM has them
(folder / "pids").write_text(f"{os.getpid()} {child.pid}")
sys.stderr.write("INFO loading weights\n")
if mood == "dies":
    sys.exit("ValueError: the model's head dimension \x1b[31mis not supported")
if mood == "stubborn":
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mood == "never":
    time.sleep(600)


class Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...

    def answer(self, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        names = ["base"] + [word.partition("=")[0] for word in words if "=" in word and mood != "forgets"]
        self.answer({"data": [{"id": name} for name in names]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with (folder / "asked.jsonl").open("a") as file:
            file.write(json.dumps(asked) + "\n")
        if mood == "crashes":
            os._exit(3)
        self.answer({"usage": {"prompt_tokens": 40, "prompt_tokens_details": {"cached_tokens": 32}}})


HTTPServer(("127.0.0.1", port), Handler).serve_forever()
