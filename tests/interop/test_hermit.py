"""Adapters of Hermit: read as playbooks, written so that Hermit's own check finds nothing wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import Whet

from whet.apps.interop.hermit import export_hermit
from whet.config.playbooks import read_playbook, write_playbook
from whet.errors import WhetError
from whet.types import Example, Playbook

sys.path.insert(0, str(Path(__file__).parent))

from peers import interpreter
from peers import run as run_there

CHECK = """
import json, sys
from pathlib import Path
from hermit.adapter.loader import load_manifest
from hermit.spec import check_spec
adapter, root = Path(sys.argv[1]), Path(sys.argv[2])
load_manifest(adapter)
print(json.dumps(check_spec(adapter, root).to_dict()))
"""

TEMPLATES = "import hermit; from pathlib import Path; print(Path(hermit.__file__).parent / 'algorithms' / 'templates')"

MANIFEST = """template:
  id: mine
  version: "2.1"
  contract: "1"
exports:
  context: ADAPTER.md
  skills: skills
structure:
  learnable:
    - path: ADAPTER.md
    - path: skills/**
  fixed: [EVOLVER.md, tools.py]
"""


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "adapter"
    (folder / "skills" / "sums").mkdir(parents=True)
    for name, text in {
        "adapter.yaml": MANIFEST,
        "ADAPTER.md": "# Rules\n\nAdd up twice.\n",
        "EVOLVER.md": "For learners.\n",
        "README.md": "For people.\n",
        "CARD.md": "Old claims.\n",
        "tools.py": "raise SystemExit('nobody may import this')\n",
        "skills/sums/SKILL.md": "---\nname: sums\ndescription: Adds.\n---\nAdd.\n",
    }.items():
        (folder / name).write_text(text)
    return folder


def test_what_the_agent_is_given_is_the_playbook(adapter: Path) -> None:
    playbook = read_playbook(str(adapter))
    assert playbook.body == "# Rules\n\nAdd up twice."
    assert playbook.files == {"skills/sums/SKILL.md": "---\nname: sums\ndescription: Adds.\n---\nAdd.\n"}


def test_an_adapter_without_its_text_is_refused_in_one_line(adapter: Path) -> None:
    (adapter / "ADAPTER.md").unlink()
    with pytest.raises(WhetError, match=r"needs ADAPTER.md beside adapter.yaml"):
        read_playbook(str(adapter))


def test_bytes_and_links_are_refused_in_one_line(adapter: Path) -> None:
    (adapter / "skills" / "picture.png").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WhetError, match="playbook cannot be read"):
        read_playbook(str(adapter))
    (adapter / "skills" / "picture.png").unlink()
    (adapter / "skills" / "secret").symlink_to("/etc/hostname")
    with pytest.raises(WhetError, match="skills/secret is a link"):
        read_playbook(str(adapter))


def test_written_over_its_template_only_the_texts_change(adapter: Path, tmp_path: Path) -> None:
    better = Playbook("Add up three times.", files={"skills/sums/SKILL.md": "---\nname: sums\n---\nAdd.\n"})
    (tmp_path / "better.json").write_bytes(write_playbook(better))
    out = tmp_path / "out"
    export_hermit(str(tmp_path / "better.json"), out, adapter)
    assert (out / "adapter.yaml").read_bytes() == (adapter / "adapter.yaml").read_bytes()
    assert (out / "tools.py").is_file()
    assert not (out / "CARD.md").exists(), "claims of another text"
    assert read_playbook(str(out)) == better


def test_examples_and_guidance_are_text_in_an_adapter(tmp_path: Path) -> None:
    whole = Playbook("Body.", (Example("How many?", "Four."),), hindsight="Mind the gap.", reminders=("Breathe.",))
    (tmp_path / "whole.json").write_bytes(write_playbook(whole))
    export_hermit(str(tmp_path / "whole.json"), tmp_path / "out")
    text = (tmp_path / "out" / "ADAPTER.md").read_text()
    assert all(part in text for part in ("Body.", "Mind the gap.", "Breathe.", "How many?", "Four."))


@pytest.mark.parametrize("name", ["../out.md", "/etc/passwd", "adapter.yaml", "CARD.md"])
def test_a_file_that_cannot_lie_there_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "strange.json").write_bytes(write_playbook(Playbook("Body.", files={name: "x"})))
    with pytest.raises(WhetError, match="cannot lie there"):
        export_hermit(str(tmp_path / "strange.json"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_over(adapter: Path, tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="is there already"):
        export_hermit(str(adapter), adapter)
    with pytest.raises(WhetError, match="is no adapter of Hermit"):
        export_hermit(str(adapter), tmp_path / "out", tmp_path)


def test_hermit_itself_finds_nothing_wrong(adapter: Path, tmp_path: Path) -> None:
    """Its own loader and specification check, on what we write anew and over one of its own templates."""
    python = interpreter("hermit", tmp_path, "hermit-harness==0.1.0", whet=False)
    templates = Path(run_there(python, TEMPLATES).strip())
    (tmp_path / "text.md").write_text("Add up twice, then answer.")
    with_files = Playbook("Body.", files={"skills/sums/SKILL.md": "---\nname: sums\ndescription: Adds.\n---\nAdd.\n"})
    (tmp_path / "files.json").write_bytes(write_playbook(with_files))
    for source, template in (
        ("text.md", None),
        ("files.json", None),
        ("text.md", templates / "prompt_only"),
    ):
        out = tmp_path / f"out-{source}-{template.name if template else ''}"
        export_hermit(str(tmp_path / source), out, template)
        result = json.loads(run_there(python, CHECK, out, template or out))
        assert result == {"passed": True, "issues": []}
        assert read_playbook(str(out)).body.startswith(read_playbook(str(tmp_path / source)).body)
    for template in ("prompt_only", "continual_harness", "mwm", "lean_collab", "harness2_codex"):
        assert read_playbook(str(templates / template)).body


def test_the_command_says_what_it_wrote(whet: Whet, adapter: Path) -> None:
    done = whet("export", "hermit", str(adapter), "-o", "out", "--template", str(adapter))
    assert done.code == 0, done.err
    assert "out: ADAPTER.md and 1 files" in done.out
