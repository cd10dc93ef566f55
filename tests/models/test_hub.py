"""A name of the Hub in `whet models verify`: what is found out without the weights, and one line where nothing is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_verify import model, safetensors

from whet.errors import WhetError
from whet.models.hf.hub import is_hub_name
from whet.models.hf.verify import verify_source

NAME = "someone/small-model"


class Hub(ThreadingHTTPServer):
    """A hub with one model, the folder at `folder`; it counts the bytes that it gives away."""

    folder: Path
    given = 0
    ranges = True
    seen: list[str]


class Shelf(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        hub: Hub = self.server  # type: ignore[assignment]
        hub.seen.append(self.headers.get("Authorization", ""))
        body, status, more = b"", 404, {}
        if self.path == f"/api/models/{NAME}":
            names = ", ".join(f'{{"rfilename": "{file.name}"}}' for file in sorted(hub.folder.iterdir()))
            body, status = f'{{"siblings": [{names}]}}'.encode(), 200
        elif self.path.startswith(f"/{NAME}/resolve/main/"):
            body, status = (hub.folder / self.path.rpartition("/")[2]).read_bytes(), 200
            asked = self.headers.get("Range", "").removeprefix("bytes=")
            if asked and hub.ranges:
                first, last = map(int, asked.split("-"))
                more = {"Content-Range": f"bytes {first}-{last}/{len(body)}"}
                body, status = body[first : last + 1], 206
        hub.given += len(body)
        self.send_response(status)
        for name, value in {**more, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub(("127.0.0.1", 0), Shelf)
    server.folder, server.seen = model(tmp_path / "shelf"), []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_of_the_hub_is_looked_at_without_its_weights(hub: Hub) -> None:
    small = {"model.embed_tokens.weight": [3, 4], "lm_head.weight": [3, 4]}
    safetensors(hub.folder / "model.safetensors", {**small, "model.layers.0.weight": [3000, 400]})
    verdict = verify_source(NAME)
    assert verdict.fit
    assert hub.given < 20_000, "the weights have 4.8 MB"
    assert any("1M" in check.told for check in verdict.checks)


def test_what_is_wrong_with_it_is_said_as_of_a_folder(hub: Hub) -> None:
    model(hub.folder, config={"architectures": ["LlavaForConditionalGeneration"], "vision_config": {}})
    verdict = verify_source(NAME)
    assert not verdict.fit
    (hub.folder / "model.safetensors").write_bytes(b"\xff" * 64)
    assert "no safetensors file" in verify_source(NAME).checks[0].told


def test_a_server_without_ranges_is_understood(hub: Hub) -> None:
    hub.ranges = False
    assert verify_source(NAME).fit


def test_a_token_goes_to_the_hub_alone(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_abcdefghijklmnopqrstuvwxyz")
    verify_source(NAME)
    assert set(hub.seen) == {"Bearer hf_abcdefghijklmnopqrstuvwxyz"}


def test_a_model_that_is_not_there_is_one_line(hub: Hub) -> None:
    with pytest.raises(WhetError, match=r"someone/else: .* answered 404 \(not there\)"):
        verify_source("someone/else")


def test_a_hub_that_cannot_be_reached_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(WhetError, match=r"no folder of that name here, and the hub 127.0.0.1:9 cannot be reached"):
        verify_source(NAME)
    monkeypatch.setenv("HF_ENDPOINT", "file:///etc")
    with pytest.raises(WhetError, match="HF_ENDPOINT is no address of a hub"):
        verify_source(NAME)


def test_a_folder_comes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_hub_name(NAME)
    (tmp_path / "someone").mkdir()
    model(tmp_path / "someone" / "small-model")
    assert not is_hub_name(NAME)
    assert not is_hub_name("weights/of/mine")
    assert not is_hub_name("../x")
    assert verify_source(NAME).fit
