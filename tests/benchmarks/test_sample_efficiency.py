"""The table of timesteps to threshold, of runs made up here."""

import pandas as pd

from benchmarks import sample_efficiency


def run_of(*means):
    timesteps = [100 * 2**i for i in range(len(means))]
    return pd.DataFrame({"timestep": timesteps, "mean": means, "sampled_mean": 0.0}), 60.0


def test_a_row_says_when_the_threshold_was_met_and_whether_it_lasts():
    runs = [run_of(0.0, 0.9, 0.9, 0.9), run_of(0.9, 0.0, 0.0, 0.0), run_of(0.0, 0.0, 0.8, 0.9)]
    row = sample_efficiency.row("Lake", "deterministic", 0.8, runs)
    assert row == (
        "Lake",
        "deterministic",
        "0.8",
        "3 of 3",
        "200",
        "100 to 400",
        "0.60",
        "33.3%",
        "60",
    )
    never = sample_efficiency.row("Lake", "sampled", 0.8, runs)
    assert never[3:6] == ("0 of 3", "inf", "inf to inf")


def test_it_runs_anywhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sample_efficiency.config, "runs", lambda study, scale: [])
    sample_efficiency.main()
    assert capsys.readouterr().out.split()[0] == "environment"
