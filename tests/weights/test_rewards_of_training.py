"""What is maximised: parts of a score by weights, and the check that right beats wrong beats nonsense."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from small_world import Hail

from whet.envs.base import Baseline
from whet.errors import WhetError
from whet.learn.weights.config import RewardSection
from whet.learn.weights.rewards import check_rewards, judged, reward_of
from whet.types import Score, failed

TASKS = tuple(range(8))


def test_parts_are_added_up_by_their_weights() -> None:
    score = Score(1, 0.5, 0.7, {"label": 1.0, "format": 1.0})
    assert reward_of(RewardSection(preset="verdict"))(score) == pytest.approx(1.2)
    assert reward_of(RewardSection())(score) == 0.7
    assert reward_of(RewardSection(weights={"hard": 2.0, "format": -0.5}))(score) == pytest.approx(1.5)


def test_a_part_that_the_environment_does_not_tell_is_refused_by_name() -> None:
    reward = reward_of(RewardSection(weights={"formt": 1.0}))
    with pytest.raises(WhetError, match=r"no part 'formt'. Did you mean 'format'"):
        reward(Score(1, 1.0, 1.0, {"format": 1.0}))
    assert reward(failed("turn_limit")) == 0.0


def test_right_beats_wrong_on_sample_transcripts() -> None:
    told = check_rewards(Hail(), TASKS, reward_of(RewardSection()))
    assert (told.correct, told.malformed) == (1.0, 0.0)


def test_rewards_by_which_wrong_beats_right_are_refused() -> None:
    with pytest.raises(WhetError, match=r"a right transcript earns -1, a wrong one 0"):
        check_rewards(Hail(), TASKS, reward_of(RewardSection(weights={"hard": -1.0})))


def test_nonsense_must_not_beat_a_wrong_answer() -> None:
    with pytest.raises(WhetError, match="teach to break the form"):
        judged(1.0, 0.0, 0.5, has_oracle=True)
    assert judged(1.0, 0.2, 0.0, has_oracle=True).notes == ()
    assert "as much as a wrong answer" in judged(1.0, 0.0, 0.0, has_oracle=True).notes[0]


def test_rewards_that_cannot_vary_are_refused() -> None:
    with pytest.raises(WhetError, match="a right transcript earns 0, a wrong one 0"):
        check_rewards(Hail(), TASKS, reward_of(RewardSection(weights={"hard": 0.0})))


def test_without_an_oracle_it_is_said_that_nothing_was_proved() -> None:
    class Mute(Hail):
        def baselines(self) -> Mapping[str, Baseline]:
            return {}

    assert "has no oracle" in str(check_rewards(Mute(), TASKS, reward_of(RewardSection())))
