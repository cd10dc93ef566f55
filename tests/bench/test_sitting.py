"""Jobs in the time that a machine is there: in order, side by side, none that will not fit, none after a failure."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH)]

import sitting  # noqa: E402


def worked(jobs: list[sitting.Job], logs: Path, seconds: float = 60.0, at_once: int = 1) -> dict[str, str]:
    made = sitting.Sitting(jobs, seconds, logs, at_once)
    while made.look():
        time.sleep(0.02)
    return {job.name: job.became for job in jobs}


def test_jobs_begin_when_they_can(tmp_path: Path) -> None:
    jobs = [
        sitting.Job("late", f"test -f {tmp_path}/first", 1.0, after=["first"]),
        sitting.Job("first", f"sleep 0.2; touch {tmp_path}/first; echo heard", 1.0),
        sitting.Job("broken", "exit 3", 1.0),
        sitting.Job("lost", "true", 1.0, after=["broken"]),
        sitting.Job("long", "true", 90.0),
    ]
    became = worked(jobs, tmp_path)
    assert (became["first"], became["late"], became["broken"]) == ("done", "done", "failed (3)")
    assert became["lost"].startswith("not begun: what it comes after")
    assert became["long"].startswith("not begun: 6")
    assert (tmp_path / "first.txt").read_text() == "heard\n"


@pytest.mark.parametrize(("at_once", "beside", "overlap"), [(1, False, False), (2, False, True), (1, True, True)])
def test_as_many_at_once_as_are_asked_for(tmp_path: Path, at_once: int, beside: bool, overlap: bool) -> None:
    jobs = [sitting.Job("a", "sleep 0.5", 1.0), sitting.Job("b", "sleep 0.5", 1.0, beside=beside)]
    worked(jobs, tmp_path, at_once=at_once)
    assert (jobs[1].began < jobs[0].ended) is overlap


def test_a_job_that_failed_is_begun_again_as_often_as_its_list_says(tmp_path: Path) -> None:
    """A training that had no memory goes on from where it was, and those that come after it wait for it."""
    count = f"echo x >> {tmp_path}/{{0}}; echo try; test $(wc -l < {tmp_path}/{{0}}) -ge {{1}}"
    jobs = [
        sitting.Job("second", count.format("second", 2), 9.0, again=1),
        sitting.Job("third", count.format("third", 3), 9.0, again=1),
        sitting.Job("next", "true", 1.0, after=["second"]),
        sitting.Job("lost", "true", 1.0, after=["third"]),
    ]
    became = worked(jobs, tmp_path)
    assert (became["second"], became["third"], became["next"]) == ("done", "failed (1)", "done")
    assert became["lost"].startswith("not begun: what it comes after")
    assert (tmp_path / "second.txt").read_text() == "try\ntry\n"
    assert jobs[0].takes < 9.0  # what it took already it need not take once more


def test_no_more_memory_is_promised_than_there_is(tmp_path: Path) -> None:
    jobs = [sitting.Job(name, "sleep 0.3", 1.0, gib=gib) for name, gib in (("a", 50.0), ("b", 60.0), ("c", 40.0))]
    made = sitting.Sitting(jobs, 60.0, tmp_path, at_once=3, gib=100.0)
    while made.look():
        time.sleep(0.02)
    assert [job.became for job in jobs] == ["done"] * 3
    assert jobs[2].began < jobs[0].ended  # a and c fit beside each other
    assert jobs[1].began >= jobs[0].ended


def test_jobs_are_told_what_the_list_says_and_the_environment_does_not(tmp_path: Path) -> None:
    listed = tmp_path / "jobs.toml"
    listed.write_text('[env]\nONE = 1\nTWO = "list"\n[[job]]\nname = "a"\nrun = "echo $ONE $TWO"\ntakes = 1\n')
    command = [sys.executable, sitting.__file__, str(listed), "--seconds", "9", "--logs", str(tmp_path)]
    subprocess.run(command, env=dict(os.environ) | {"TWO": "shell"}, check=True, capture_output=True)
    assert (tmp_path / "a.txt").read_text() == "1 shell\n"


def test_what_a_list_says_may_name_variables_and_one_that_is_set_nowhere_ends_the_sitting(tmp_path: Path) -> None:
    """A shell puts a variable in and does not look into it for more: such jobs ended at once with '$T' for a number."""
    listed = tmp_path / "jobs.toml"
    listed.write_text(
        "[env]\nARM = '--seconds $T $MORE'\nMORE = '--work ${W}'\n"
        "[[job]]\nname = 'a'\nrun = 'for word in $ARM; do echo $word; done'\ntakes = 1\n"
    )
    command = [sys.executable, sitting.__file__, str(listed), "--seconds", "9", "--logs", str(tmp_path / "logs")]
    env = {name: value for name, value in os.environ.items() if name not in ("T", "W", "MORE")}
    made = subprocess.run(command, env=env | {"T": "3"}, check=False, capture_output=True, text=True)
    assert made.returncode == 1
    assert made.stderr.splitlines()[-1].startswith("set W first")
    assert not (tmp_path / "logs").exists()
    subprocess.run(command, env=env | {"T": "3", "W": "there"}, check=True, capture_output=True)
    assert (tmp_path / "logs" / "a.txt").read_text().split() == ["--seconds", "3", "--work", "there"]


@pytest.mark.parametrize("name", [path.stem for path in sorted(BENCH.glob("rl_*.toml"))])
def test_the_lists_name_what_must_be_set_and_nothing_stays_a_variable(name: str) -> None:
    jobs, told = sitting.read_jobs([BENCH / f"{name}.toml"])
    header = (BENCH / f"{name}.toml").read_text().split("[env]")[0]
    named = {word for text in (*told.values(), *(job.run for job in jobs)) for word in sitting.named(text)} - set(told)
    assert named
    assert all(f"{word}=" in header for word in named)
    assert not any("$" in value for value in sitting.settled(jobs, told, dict.fromkeys(named, "1")).values())


def test_lists_that_are_worked_off_together_say_nothing_against_each_other() -> None:
    """Two of them said one variable in two ways, and that came out when the GPU was there."""
    lists = [BENCH / f"{name}.toml" for name in ("rl_seed", "rl_groupqc", "rl_soup", "rl_ablation")]
    jobs, told = sitting.read_jobs(lists)
    assert len({job.name for job in jobs}) == len(jobs)
    assert told["RL_SLOTS"] == "640"


def test_a_dry_run_says_what_would_begin_when_and_begins_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    (tmp_path / "jobs.toml").write_text(
        f"""
        [env]
        ROOM = "--cache 8"
        [[job]]
        name = "first_{{seed}}"
        run = "touch {made} $ROOM --work $PLACE"
        takes = 30
        gib = 12
        [[job]]
        name = "then"
        run = "true"
        takes = 15
        after = ["first_{{seed}}"]
        [[job]]
        name = "late"
        run = "true"
        takes = 90
        after = ["then"]
        """
    )
    call = [sys.executable, str(BENCH / "sitting.py"), str(tmp_path / "jobs.toml"), "--dry-run"]
    call += ["--seeds", "0", "1", "--logs", str(tmp_path / "logs")]
    known = os.environ | {"PLACE": "here"}

    def asked(*given: str, env: dict[str, str] = known) -> tuple[int, list[str], str]:
        done = subprocess.run([*call, *given], env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr

    status, said, _ = asked("--seconds", "100")
    assert status == 1
    assert said == [
        "     0 s  first_0: 30 s, 12 GiB",
        f"          touch {made} --cache 8 --work here",
        "    30 s  late: not begun: 70 s were left",
        "    30 s  first_1: 30 s, 12 GiB",
        f"          touch {made} --cache 8 --work here",
        "    60 s  then: 15 s",
        "          true",
    ]
    assert [line for line in asked("--seconds", "200", "--at-once", "2")[1] if "late" in line] == [
        "    45 s  late: 90 s"
    ]
    assert asked("--seconds", "200")[0] == 0
    assert not made.exists()
    assert not (tmp_path / "logs").exists()
    status, _, problem = asked("--seconds", "9", env={name: value for name, value in known.items() if name != "PLACE"})
    assert status == 1
    assert "set PLACE first" in problem


def test_jobs_that_wait_for_each_other_are_told_by_a_dry_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [sitting.Job("a", "true", 5.0, after=["b"]), sitting.Job("b", "true", 5.0, after=["a"])]
    sitting.Plan(jobs, 60.0, tmp_path).run()
    assert [job.became for job in jobs] == ["not begun: 0 s were left"] * 2
    assert "a: not begun" in capsys.readouterr().out


def test_a_job_that_can_never_have_its_memory_is_refused(tmp_path: Path) -> None:
    listed = tmp_path / "jobs.toml"
    listed.write_text('[[job]]\nname = "a"\nrun = "true"\ntakes = 1\ngib = 50\n')
    command = [sys.executable, sitting.__file__, str(listed), "--seconds", "9", "--gib", "40"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert told.returncode == 2
    assert "--gib 40: a alone takes more" in told.stderr


def test_a_machine_without_a_gpu_says_that_none_can_be_shared(tmp_path: Path) -> None:
    listed = tmp_path / "jobs.toml"
    listed.write_text('[[job]]\nname = "a"\nrun = "true"\ntakes = 1\n')
    command = [sys.executable, sitting.__file__, str(listed), "--seconds", "9", "--share"]
    told = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env={"PATH": str(tmp_path)}
    )
    assert told.returncode == 1
    assert "no nvidia-cuda-mps-control here" in told.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_what_runs_and_stops_the_daemon_that_it_started(tmp_path: Path, number: int) -> None:
    mark, listed = tmp_path / "mark", tmp_path / "jobs.toml"
    job = '[[job]]\nname = "{}"\nrun = "touch {}; (sleep 3; touch {}) & wait"\ntakes = 1\n'
    listed.write_text(job.format("a", tmp_path / "began", mark) + job.format("b", mark, mark))
    daemon = tmp_path / "nvidia-cuda-mps-control"
    daemon.write_text(f'#!/bin/sh\nif [ "$1" = -d ]; then echo on; else cat; fi >> {tmp_path}/daemon\n')
    daemon.chmod(0o755)
    command = [sys.executable, sitting.__file__, str(listed), "--seconds", "60", "--share", "--logs", str(tmp_path)]
    env = dict(os.environ) | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True) as made:
        while not (tmp_path / "began").exists():
            time.sleep(0.05)
        made.send_signal(number)
        told, _ = made.communicate(timeout=30)
    assert made.returncode == 130
    assert told.splitlines()[-2].endswith("interrupted")
    assert told.splitlines()[-1].endswith("not begun: interrupted")
    assert (tmp_path / "daemon").read_text() == "on\nquit\n"
    time.sleep(3.2)
    assert not mark.exists()


def test_what_runs_when_the_time_is_over_is_ended_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    jobs = [sitting.Job("slow", f"(sleep 2; touch {mark}) & wait", 0.1)]
    assert worked(jobs, tmp_path, seconds=0.4) == {"slow": "cut off"}
    time.sleep(2.2)
    assert not mark.exists()


def test_a_list_that_names_no_job_is_refused(tmp_path: Path) -> None:
    listed = tmp_path / "jobs.toml"
    listed.write_text('[[job]]\nname = "a"\nrun = "true"\ntakes = 1\nafter = ["b"]\n')
    with pytest.raises(SystemExit, match="no job b"):
        sitting.read_jobs([listed])
    listed.write_text('[[job]]\nname = "a"\n')
    with pytest.raises(SystemExit, match=r"no list of jobs: .*'run' and 'takes'"):
        sitting.read_jobs([listed])
    with pytest.raises(SystemExit, match="no list of jobs"):
        sitting.read_jobs([tmp_path / "none.toml"])


def test_a_job_with_a_seed_in_its_name_stands_for_one_of_each(tmp_path: Path) -> None:
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text(
        "[env]\nROOM = 1\n"
        '[[job]]\nname = "sft_{seed}"\nrun = "echo {seed} $ROOM"\ntakes = 1\n'
        '[[job]]\nname = "base"\nrun = "true"\ntakes = 1\nafter = ["sft_{seed}"]\n'
        '[[job]]\nname = "grpo_{seed}"\nrun = "echo {seed}"\ntakes = 1\nafter = ["sft_{seed}", "base"]\n'
    )
    second.write_text('[env]\nROOM = 1\n[[job]]\nname = "last"\nrun = "true"\ntakes = 1\nafter = ["grpo_3"]\n')
    jobs, told = sitting.read_jobs([first, second], [3, 5])
    assert told == {"ROOM": "1"}
    assert [job.name for job in jobs] == ["sft_3", "base", "grpo_3", "sft_5", "grpo_5", "last"]
    assert [jobs[3].run, *jobs[4].after] == ["echo 5 $ROOM", "sft_5", "base"]
    assert jobs[1].after == ["sft_3", "sft_5"]
    second.write_text(second.read_text().replace("ROOM = 1", "ROOM = 2"))
    with pytest.raises(SystemExit, match="ROOM is 2 here and 1 in a list before"):
        sitting.read_jobs([first, second])


def test_jobs_that_fit_a_pattern_run_in_its_order_and_wait_for_none_of_the_others(tmp_path: Path) -> None:
    jobs = [
        sitting.Job("sft_0", "exit 1", 1.0),
        sitting.Job("grpo_0", "true", 1.0, after=["sft_0", "step"]),
        sitting.Job("step", "true", 1.0, after=["sft_0"]),
        sitting.Job("grpo_1", "true", 1.0),
    ]
    left = sitting.chosen(jobs, ["step", "grpo_?"])
    assert [(job.name, job.after) for job in left] == [("step", []), ("grpo_0", ["step"]), ("grpo_1", [])]
    assert set(worked(left, tmp_path).values()) == {"done"}
    assert sitting.chosen(jobs, []) == jobs
    with pytest.raises(SystemExit, match=r"--only base: no job is called so; there are sft_0, grpo_0, step, grpo_1"):
        sitting.chosen(jobs, ["grpo_*", "base"])


def listed(name: str, seeds: Sequence[int] = (0, 1, 2)) -> dict[str, sitting.Job]:
    return {job.name: job for job in sitting.read_jobs([BENCH / f"{name}.toml"], seeds)[0]}


def test_the_list_of_ordebug_has_every_arm_trained_and_measured() -> None:
    jobs = listed("rl_seed", [1])
    later = {"grpo", "sft_equal_time", "rejection_sft", "grpo_one_step"}
    steps = {"step", "step_sft", "step_one"}
    assert set(jobs) == {"base", "sft_1", "sft_measured_1", *steps, *(f"{arm}_1" for arm in later)}
    assert "arm sft " in jobs["sft_1"].run
    assert "--rungs ''" in jobs["sft_1"].run
    assert jobs["sft_measured_1"].after == ["sft_1", "step"]  # what a step takes alone is taken while nothing else runs
    for name in steps:
        assert jobs[name].gib == 130
        assert f"--json $W/{name}.json" in jobs[name].run
    assert "--alone $W/step.json" in jobs["grpo_1"].run
    for arm in later:
        run = jobs[f"{arm}_1"].run
        assert f"arm {arm} --seed 1 " in run
        assert "--seconds" in run  # they need not wait for grpo's end
        assert "--rungs" not in run  # they measure themselves
    assert all(job.gib for job in jobs.values())  # they share one GPU


def test_recipes_are_chosen_on_problems_that_no_arm_is_measured_on() -> None:
    jobs, told = sitting.read_jobs([BENCH / "rl_tune.toml"])
    rungs = told["CHOSEN"].split("--rungs ")[1].split(",")
    assert all(rung.endswith("@select") for rung in rungs)
    measuring = [job for job in jobs if "rl.py arm" in job.run and "--rungs ''" not in job.run]
    assert all("$CHOSEN" in job.run and job.run.count("--rungs") == 0 for job in measuring)
    assert all("--label" in job.run for job in measuring if "arm grpo" in job.run)  # none of them is the arm yet
    assert all(job.gib for job in jobs)
    recipes = [job for job in jobs if "arm grpo" in job.run]
    assert len(recipes) == 3
    assert sum(job.gib for job in recipes) <= 132
