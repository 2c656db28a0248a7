"""The health check: every fault is found from its facts, and nothing is found where all is well."""

import gymnasium
import pytest
from gymnasium.wrappers import NormalizeObservation, NormalizeReward

from powr.health import Facts, findings, shifting_scales

RISING = [float(n) for n in range(20)]
HEALTHY = {
    "timesteps": 2000,
    "n_epochs": 20,
    "returns": RISING,
    "overshoot": 0.1,
    "unvisited_share": 0.01,
    "shown_return": 19.0,
}
FAULTS = {
    "no_epoch": {"n_epochs": 0},
    "equal_returns": {"returns": [0.0] * 10, "shown_return": 0.0},
    "overshoot": {"overshoot": 1.0},
    "unvisited_actions": {"unvisited_share": 0.5},
    "worse_than_training": {"shown_return": 0.0},
}


def test_nothing_is_found_where_all_is_well_or_unknown():
    assert findings(Facts(**HEALTHY)) == {}
    assert findings(Facts(timesteps=2000, n_epochs=20, returns=RISING)) == {}
    assert findings(Facts(timesteps=0, n_epochs=0, returns=[])) == {}
    assert findings(Facts(timesteps=9, n_epochs=1, returns=[0.0] * 9)) == {}  # too few episodes


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_alone(fault):
    assert list(findings(Facts(**(HEALTHY | FAULTS[fault])))) == [fault]


@pytest.mark.parametrize(
    ("wrapper", "subject"), [(NormalizeObservation, "observations"), (NormalizeReward, "rewards")]
)
def test_wrappers_whose_scale_shifts_are_found_under_others(wrapper, subject):
    env = gymnasium.make("MountainCar-v0")
    assert shifting_scales(env) == {}
    found = shifting_scales(gymnasium.wrappers.TimeLimit(wrapper(env), 100))
    assert list(found) == [subject]
    assert wrapper.__name__ in found[subject]
