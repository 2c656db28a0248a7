"""The tables of an ablation: what they say about made-up run files, and what they refuse."""

import copy
import hashlib
import json
import math

import pandas as pd
import pytest
import yaml

from suite import SuiteError, config
from suite.ablations import page, tables
from suite.ablations.tables import main
from tests.support.run_files import PROVENANCE, STUDY
from tests.support.run_files import csv_text as run_text

PACE = {
    "seeds": 3,
    "algorithms": ["powr"],
    "timesteps": {"FrozenLake-v1": 1000, "MountainCar-v0": 1000},
    "settings": {"gamma": [0.9, 0.99]},
    "environments": {
        "MountainCar-v0": {"kernel": [{"name": "Gaussian", "bandwidth": [0.1, 0.01]}]}
    },
}


@pytest.fixture
def study():
    return {**copy.deepcopy(STUDY), "ablations": {"pace": copy.deepcopy(PACE)}}


@pytest.fixture
def results(study, tmp_path):
    """On FrozenLake seed 2 arrives with neither discount; with 0.99 the others arrive at once."""
    for variant, run in config.variant_runs(study, "pace"):
        late = 1.0 if run.seed < 2 else 0.0
        early = late if variant.varied["gamma"] == 0.99 else 0.0
        if run.environment == "MountainCar-v0":
            early, late = -200.0, -105.0
        write(tmp_path, variant, run, run_text({100: early, 1000: late}))
    return tmp_path


def write(results, variant, run, text):
    path = results / run.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    document = {
        "settings": {**variant.resolved, "seed": run.seed},
        "digest": run.digest,
        "csv_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "provenance": PROVENANCE,
    }
    path.with_suffix(".json").write_text(json.dumps(document))


@pytest.fixture
def outcomes(study, results):
    evaluations = tables.load_evaluations(study, "pace", results)
    return tables.outcomes(evaluations, study["environments"])


def test_one_row_a_run(outcomes):
    assert len(outcomes) == 2 * 2 * 3
    assert (
        outcomes.groupby(["environment", "gamma"])["seed"].apply(list).tolist() == [[0, 1, 2]] * 4
    )


def test_timesteps_to_the_threshold_are_empty_where_it_is_not_reached(outcomes):
    ice = outcomes[outcomes["environment"] == "FrozenLake-v1"]
    times = ice.pivot(index="gamma", columns="seed", values="reached")
    assert times.loc[0.9].tolist()[:2] == [1000, 1000]
    assert times.loc[0.99].tolist()[:2] == [100, 100]
    assert times[2].isna().all()


def test_late_return_and_optimum(outcomes):
    facts = outcomes.groupby("environment")[["late_return", "optimal_return"]].first()
    assert facts["late_return"].to_dict() == {"FrozenLake-v1": 1.0, "MountainCar-v0": -105.0}
    assert facts.loc["FrozenLake-v1", "optimal_return"] == pytest.approx(1.0)
    assert math.isnan(facts.loc["MountainCar-v0", "optimal_return"])


def test_settings_of_a_mapping_get_columns(outcomes):
    car = outcomes[outcomes["environment"] == "MountainCar-v0"]
    assert set(car["kernel_name"]) == {"Gaussian"}
    assert set(car["kernel_bandwidth"]) == {"0.1 0.01"}
    assert outcomes[outcomes["environment"] == "FrozenLake-v1"]["kernel_name"].isna().all()


def test_exact_returns_come_before_played_ones(study, results):
    for variant, run in config.variant_runs(study, "pace"):
        if run.environment == "FrozenLake-v1":
            write(results, variant, run, run_text({100: 1.0, 1000: 1.0}, exact=-0.5))
    evaluations = tables.load_evaluations(study, "pace", results)
    assert set(evaluations["return"][evaluations["environment"] == "FrozenLake-v1"]) == {0.5}


def test_curves_are_over_seeds(study, results):
    curves = tables.curves(tables.load_evaluations(study, "pace", results))
    assert len(curves) == 2 * 2 * 2
    row = curves.query("environment == 'FrozenLake-v1' and gamma == 0.99 and timestep == 100")
    assert row[["mean", "min", "max"]].to_numpy().tolist() == [[pytest.approx(2 / 3), 0.0, 1.0]]


def test_a_missing_run_stops_with_its_name_and_the_remedy(study, results):
    _, run = config.variant_runs(study, "pace")[0]
    (results / run.path).unlink()
    with pytest.raises(SuiteError, match=rf"1 of 12 runs .*{run.path.name}: run `make ablations`"):
        tables.load_evaluations(study, "pace", results)


def test_the_command_writes_both_tables(study, results, tmp_path):
    envs = tmp_path / "envs.yaml"
    envs.write_text(yaml.safe_dump(study))
    assert main(["--ablation", "pace", "--envs", str(envs), "--results", str(results)]) == 0
    assert len(pd.read_csv(results / "ablations" / "pace.csv")) == 12
    assert len(pd.read_csv(results / "ablations" / "pace_curves.csv")) == 8


def test_an_unknown_ablation_is_named(study, results, tmp_path, capsys):
    envs = tmp_path / "envs.yaml"
    envs.write_text(yaml.safe_dump(study))
    assert main(["--ablation", "pase", "--envs", str(envs), "--results", str(results)]) == 1
    assert "ablation: pase is not one of pace" in capsys.readouterr().err


# -- numbers of the page ---------------------------------------------------------------------------


def test_numbers_of_the_page(outcomes):
    ice = {"environment": "FrozenLake-v1"}
    assert page.timesteps(outcomes, **ice, gamma=0.99) == "100 (2 of 3)"
    assert page.timesteps(outcomes, **ice, gamma=0.99, seed=2) == "never"
    assert page.timesteps(outcomes, environment="MountainCar-v0", gamma=0.9) == "1,000"
    assert page.spread(outcomes, **ice, gamma=0.9) == "1,000 to never"
    assert page.late_return(outcomes, environment="MountainCar-v0") == "−105.00"


def test_the_page_does_not_invent_runs(outcomes):
    with pytest.raises(SuiteError, match=r"'gamma': 0\.5"):
        page.timesteps(outcomes, gamma=0.5)
