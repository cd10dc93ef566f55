"""llama.cpp's own HTTP server as a process, for tests: the words of `llama-server`, the library of xllamacpp."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

import xllamacpp

parser = argparse.ArgumentParser()
for word in ("--model", "--host", "--alias"):
    parser.add_argument(word, default="")
for word in ("--port", "--ctx-size"):
    parser.add_argument(word, type=int, default=1024)
told = parser.parse_args()

params = xllamacpp.CommonParams()
params.model.path = told.model
params.hostnames = [told.host]
params.port = told.port
params.n_ctx = told.ctx_size
params.n_parallel = 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup = params.ui = False
if told.alias:
    params.model_alias = {told.alias}
ended = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: ended.set())
try:
    server = xllamacpp.Server(params)
except RuntimeError as problem:
    sys.exit(f"error: {problem}")
sys.stderr.write(f"listening on {server.listening_address}\n")
ended.wait()
