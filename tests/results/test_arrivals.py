"""When a run arrives, and when it stays."""

import math

import pandas as pd
import pytest

from suite import SuiteError
from suite.results import arrivals
from suite.results.arrivals import time_to_lasting
from suite.results.statistics import time_to_threshold

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
    ],
)
def test_at_most_one_evaluation_in_twenty_falls_below_a_lasting_arrival(returns, lasting):
    assert time_to_lasting(range(len(returns)), returns, 1.0) == lasting


def test_a_longer_lapse_ends_the_arrival_before_it():
    times = list(range(1, 61))
    returns = [DOWN] * 9 + [UP] * 20 + [DOWN] * 2 + [UP] * 29
    assert time_to_threshold(times, returns, 1.0) == 10
    # 2 of the 51 evaluations from the tenth on are below.
    assert time_to_lasting(times, returns, 1.0) == 10
    returns[40] = DOWN
    assert time_to_lasting(times, returns, 1.0) == 32
    assert time_to_lasting(times, [*returns[:-2], DOWN, DOWN], 1.0) == math.inf


def evaluations(**columns):
    return pd.DataFrame(
        {"environment": "E", "algorithm": "a", "seed": 0, "timestep": [100, 200, 300], **columns}
    )


def test_never_is_an_empty_cell_and_is_read_back(tmp_path):
    table = arrivals.tabulate(evaluations(mean=[0.0, 1.0, 0.0]), {"E": [1]})
    path = tmp_path / "runs.csv"
    table.to_csv(path, index=False)
    assert path.read_text().splitlines()[1] == "E,a,deterministic,0,1,300,200,"
    pd.testing.assert_frame_equal(arrivals.read(path), table)
    assert arrivals.as_times(table[arrivals.LASTING]).tolist() == [math.inf]


def test_a_policy_has_rows_only_where_it_was_recorded():
    both = evaluations(mean=[0.0] * 3, sampled_mean=[1.0] * 3)
    assert arrivals.tabulate(both, {"E": [1]})["policy"].tolist() == ["deterministic", "sampled"]
    none = evaluations(mean=[0.0] * 3, sampled_mean=[math.nan] * 3)
    assert arrivals.tabulate(none, {"E": [1]})["policy"].tolist() == ["deterministic"]


def test_another_table_is_refused(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SuiteError, match=r"runs\.csv: has the columns a, b where environment"):
        arrivals.read(path)
