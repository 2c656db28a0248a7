"""The health check: every fault is found from its facts, and nothing is found where all is well."""

import gymnasium
import pytest
from gymnasium.wrappers import NormalizeObservation, NormalizeReward, TimeLimit

from powr.health import findings, shifting_scales

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


@pytest.mark.parametrize(
    ("wrapper", "subject"), [(NormalizeObservation, "observations"), (NormalizeReward, "rewards")]
)
def test_wrappers_whose_scale_shifts_are_found_under_others(wrapper, subject):
    env = gymnasium.make("MountainCar-v0")
    assert shifting_scales(env) == {}
    found = shifting_scales(TimeLimit(wrapper(env), 100))
    assert list(found) == [subject]
    assert wrapper.__name__ in found[subject]
