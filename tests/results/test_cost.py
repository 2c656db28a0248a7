"""The cost table of hand-written clocks."""

import pandas as pd
import pytest

from suite import config
from suite.results import cost
from tests.support.run_files import STUDY, clock, csv_text, run_of, write_run


@pytest.fixture
def results(tmp_path):
    """A timestep takes POWR 0.1 s and DQN 0.01 s, an evaluation takes 2 s."""
    means = dict.fromkeys((100, 1000, 5000), 0.0)
    for algorithm, seconds in (("powr", 0.1), ("dqn", 0.01)):
        for seed in range(3):
            spent = {**clock(means, seconds, 2.0), "peak_memory_bytes": (1 + seed) * 50_000_000}
            write_run(tmp_path, run_of("FrozenLake-v1", algorithm, seed), csv_text(means), **spent)
    return tmp_path


def test_evaluations_are_no_part_of_the_speed(results, monkeypatch):
    monkeypatch.setattr(config, "load", lambda path: STUDY)
    assert cost.main(["--scale", "tiny", "--results", str(results)]) == 0
    table = pd.read_csv(results / "tiny" / "cost.csv")
    assert table["runs"].tolist() == [3, 3, 0, 0]
    powr, dqn = (row for _, row in table[:2].iterrows())
    assert powr["timesteps_per_second"] == pytest.approx(10)
    assert dqn["timesteps_per_second"] == pytest.approx(100)
    assert dqn["evaluation_share"] == pytest.approx(6 / 56)
    assert powr["wall_hours"] == pytest.approx(3 * 506 / 3600)  # of all runs
    assert powr["peak_memory_mb"] == pytest.approx(150)  # of the largest
    head, *rows = cost.as_text(table)
    assert [len(row) for row in rows] == [len(head)] * 4
    assert rows[0] == ("POWR", "10", "0.422", "150 MB")
    assert set(rows[3]) == {"DQN", "no run"}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.04 s"), (12.34, "12 s"), (90, "2 min"), (3599, "1 h 00 min"), (7500, "2 h 05 min")],
)
def test_durations(seconds, text):
    assert cost.duration_text(seconds) == text
