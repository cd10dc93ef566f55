"""Weights as GGUF: does llama.cpp say what transformers says, on the real default model or on trained weights?

    python bench/export_gguf.py [--quick] [--json FILE] [--weights hf:BASE+ADAPTER]

Replies at temperature 0 to orders of examples/orders.csv, by `hf:` in float32 and by `embedded:` from the written file.
A number type that rounds may part ways where two tokens are nearly as likely; f32 may only by the last bits.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whet.learn.weights.gguf_export import write_gguf
from whet.models import ModelOptions, load_model
from whet.models.base import Request
from whet.types import Sampling, user

ORDERS = Path(__file__).parents[1] / "examples" / "orders.csv"
ASKED = "Write this order as one line: quantity | item | city | day. The quantity in digits, the day in full.\n\n"


def messages(count: int) -> list[str]:
    with ORDERS.open(newline="") as file:
        return [ASKED + row["message"] for row in csv.DictReader(file) if row["split"] == "test"][:count]


def said(address: str, asked: Sequence[str]) -> list[str]:
    """One request after the other: company would move the last bits."""
    extra: dict[str, Any] = {"dtype": "float32"} if address.startswith("hf:") else {}
    model = load_model(address, ModelOptions(context=1024, extra=extra))

    async def all_of_it() -> list[str]:
        sampling = Sampling(temperature=0.0, max_tokens=24)
        replies = [(await model.complete(Request((user(text),), sampling))).text for text in asked]
        await model.close()
        return replies

    return asyncio.run(all_of_it())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--weights", default="hf:smollm2")
    given = parser.parse_args()
    asked = messages(6 if given.quick else 24)
    expected = said(given.weights, asked)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, bar in (("f32", 0.95), ("f16", 0.95), ("q8_0", None)):
            file = write_gguf(given.weights, Path(folder) / f"{kind}.gguf", kind)  # type: ignore[arg-type]
            found = said(f"embedded:{file}", asked)
            same = sum(a == b for a, b in zip(expected, found, strict=True)) / len(asked)
            condition = f"{given.weights}, {len(asked)} replies of up to 24 tokens at temperature 0"
            print(f"{kind}: {same:.3f} of the replies are the same, {file.stat().st_size / 1e6:.0f} MB")
            rows.append(
                {
                    "name": f"gguf_same_replies_{kind}",
                    "value": same,
                    "unit": "share",
                    "bar": bar,
                    "holds": None if bar is None else same >= bar,
                    "peer": "transformers",
                    "peer_value": 1.0,
                    "ratio": same,
                    "condition": condition,
                }
            )
            file.unlink()
    if given.json:
        given.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    return int(any(row["holds"] is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
