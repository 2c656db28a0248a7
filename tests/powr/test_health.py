"""The health check: every fault is found from its facts, and nothing is found where all is well."""

import gymnasium
import pytest
from gymnasium.wrappers import NormalizeObservation, NormalizeReward, TimeLimit

from powr import POWR
from powr.health import findings, shifting_scales
from tests.powr.environments import Corridor

RISING = [float(n) for n in range(20)]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ((2000, 20, RISING, 0.1), []),
        ((0, 0, []), []),
        ((9, 1, [0.0] * 9), []),  # too few episodes
        ((2000, 0, RISING), ["no_epoch"]),
        ((2000, 20, [0.0] * 10), ["equal_returns"]),
        ((2000, 20, RISING, 1.0), ["overshoot"]),
    ],
)
def test_each_fault_is_found_alone(facts, expected):
    assert list(findings(*facts)) == expected


def test_wrappers_whose_scale_shifts_are_warned_about_under_others():
    assert shifting_scales(gymnasium.make("MountainCar-v0")) == {}
    shifting = TimeLimit(NormalizeReward(NormalizeObservation(Corridor(continuous=True))), 100)
    with pytest.warns(UserWarning, match="Normalize.* changes its scale") as caught:
        agent = POWR(shifting).learn(10)
    assert len(caught) == 2
    assert set(agent.health_) == {"observations", "rewards"}
