"""When a run arrives, and when it stays."""

import math

import pandas as pd
import pytest

from suite.results import arrivals
from suite.results.arrivals import time_to_lasting

UP, DOWN = 1.0, 0.0


@pytest.mark.parametrize(
    ("returns", "lasting"),
    [
        ([DOWN, UP, UP], 1),
        ([UP, DOWN, UP], 2),
        ([UP, UP, DOWN], math.inf),
        ([DOWN] * 3, math.inf),
        ([UP] * 10 + [DOWN] + [UP] * 9, 0),  # one in twenty
        ([UP] * 9 + [DOWN] + [UP] * 9, 10),  # one in nineteen
        ([DOWN] + [UP] * 30, 1),  # an evaluation below the threshold is no arrival
        ([DOWN] * 9 + [UP] * 20 + [DOWN] * 2 + [UP] * 29, 9),  # 2 of 51 are below
        ([DOWN] * 9 + [UP] * 20 + [DOWN] * 3 + [UP] * 28, 32),  # 3 of 51 are too many
    ],
)
def test_at_most_one_evaluation_in_twenty_falls_below_a_lasting_arrival(returns, lasting):
    assert time_to_lasting(range(len(returns)), returns, 1.0) == lasting


def test_a_policy_has_rows_where_it_was_recorded_and_never_is_an_empty_cell():
    columns = {"environment": "E", "algorithm": "a", "seed": 0, "timestep": [100, 200, 300]}
    run = pd.DataFrame({**columns, "mean": [0.0, 1.0, 0.0], "sampled_mean": [1.0] * 3})
    table = arrivals.tabulate(run, {"E": [1]})
    assert table.to_csv(index=False).splitlines()[1:] == [
        "E,a,deterministic,0,1,300,200,",
        "E,a,sampled,0,1,300,100,100",
    ]
    assert arrivals.as_times(table[arrivals.LASTING]).tolist() == [math.inf, 100]
    table = arrivals.tabulate(run.assign(sampled_mean=math.nan), {"E": [1]})
    assert table["policy"].tolist() == ["deterministic"]
