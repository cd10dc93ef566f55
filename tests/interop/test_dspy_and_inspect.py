"""Our environments in DSPy and in Inspect: scores agree task by task, and what comes of it goes to the gate."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import Whet

sys.path.insert(0, str(Path(__file__).parent))

from peers import ROOT, interpreter, run

SUMS = f"{ROOT / 'examples' / 'sums.py'}:Sums"
TASKS = 12

DSPY = """
import json, sys
import dspy
from dspy.utils import DummyLM
from whet.apps.interop.dspy_program import examples, metric, write_playbook
env, n = sys.argv[1], int(sys.argv[2])
shown, grade = examples(env, n=n), metric(env)
answers = sys.argv[3].split(',')
dspy.configure(lm=DummyLM([{'answer': text} for text in answers]))
program = dspy.Predict(dspy.Signature('question -> answer', 'Add the numbers. Say the sum alone.'))
scores = [grade(example, program(**example.inputs())) for example in shown]
told = grade(shown[1], dspy.Prediction(answer='no'), None, 'self', None)
compiled = dspy.BootstrapFewShot(metric=metric(env), max_bootstrapped_demos=2, max_labeled_demos=0)
dspy.configure(lm=DummyLM([{'answer': text} for text in answers * 4]))
better = compiled.compile(program, trainset=shown)
write_playbook(better, 'candidate.json')
try:
    examples(env, 'test')
    sealed = False
except Exception as refused:
    sealed = 'not sealed' in str(refused)
fields = sorted(shown[0].keys())
print(json.dumps({'scores': scores, 'told': told.feedback, 'truth': fields, 'sealed': sealed}))
"""

INSPECT = """
import json, sys
from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from whet.apps.interop.inspect_task import inspect_task
env, n, answers = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(',')
outputs = [ModelOutput.from_content('mockllm/model', text) for text in answers]
for output in outputs:
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it fetches a tokenizer
model = get_model('mockllm/model', custom_outputs=outputs)
task = inspect_task(env, 'train', n, sys.argv[4])
log = evaluate(task, model=model, max_samples=1, log_dir='logs', display='none')[0]
assert log.status == 'success', log.error
print(json.dumps({
    'scores': {sample.id: sample.scores['whet_score'].value for sample in log.samples},
    'first': [message.text for message in log.samples[0].messages],
    'reason': log.samples[1].scores['whet_score'].explanation,
}))
"""


@pytest.fixture(scope="module")
def right() -> list[str]:
    """What a task of sums is answered by, every third wrong."""
    from whet.envs.registry import load_environment

    env = load_environment(SUMS)
    return ["no" if index % 3 == 1 else str(env.task("train", index).truth) for index in range(TASKS)]


def at_home(answers: list[str]) -> list[int]:
    from whet.envs.registry import load_environment
    from whet.rollout.drive import drive

    env = load_environment(SUMS)
    played = (drive(env.play(env.task("train", at)), lambda *_, text=text: text) for at, text in enumerate(answers))
    return [transcript.score.hard for transcript in played]


def test_dspy_grades_as_we_do_and_its_program_goes_to_the_gate(
    tmp_path: Path, right: list[str], whet: Whet, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = interpreter("dspy", tmp_path, "dspy==3.4.1")
    found = json.loads(run(python, DSPY, SUMS, TASKS, ",".join(right), cwd=tmp_path).splitlines()[-1])
    assert [int(score) for score in found["scores"]] == at_home(right)
    assert found["told"]
    assert found["truth"] == ["index", "question", "split"]
    assert found["sealed"]
    candidate = json.loads((tmp_path / "candidate.json").read_text())
    assert candidate["body"] == "Add the numbers. Say the sum alone."
    assert candidate["examples"]
    adder = tmp_path / "adder.py"
    adder.write_text(ADDER)
    assert whet("eval", SUMS, "-m", f"scripted:{adder}:answer", "--split", "select", "--run", "before").code == 0
    done = whet("gate", "before", "--candidate", str(tmp_path / "candidate.json"))
    assert done.code == 0, done.err
    assert "accepted by paired" in done.out


ADDER = """
import re

def answer(request):
    told = any("Say the sum alone" in message.text for message in request.messages[:-1])
    numbers = [int(found) for found in re.findall(r"-?\\d+", request.messages[-1].text)]
    return str(sum(numbers)) if told else "I think it is " + str(sum(numbers)) + ", or one more"
"""


def test_inspect_scores_as_we_do(tmp_path: Path, right: list[str]) -> None:
    python = interpreter("inspect", tmp_path, "inspect-ai==0.3.285")
    (tmp_path / "candidate.md").write_text("Say the sum alone.")
    found = json.loads(
        run(python, INSPECT, SUMS, TASKS, ",".join(right), "candidate.md", cwd=tmp_path).splitlines()[-1]
    )
    assert [int(found["scores"][f"train/{at}"]) for at in range(TASKS)] == at_home(right)
    assert found["first"][0] == "Say the sum alone."
    assert found["reason"]
