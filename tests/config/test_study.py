"""envs.yaml: what is refused, what a run's digest covers, and which runs a scale has."""

import re
from pathlib import Path

import pytest

from suite import SuiteError, config
from suite.config import algorithm_name
from tests.support.run_files import set_in, study_of

ROOT = Path(__file__).parents[2]


def test_an_algorithm_runs_only_where_its_scale_says(study, write_study):
    study["scales"]["quick"] = {
        "seeds": 1,
        "algorithms": ["powr"],
        "timesteps": {"FrozenLake-v1": 5000, "Taxi-v3": 5000, "MountainCar-v0": 5000},
        "only": {"rmax": {"Taxi-v3": 300}},
    }
    study = config.load(write_study(study))
    places = [run[1:3] for run in study.runs("quick")]
    assert places == [
        ("FrozenLake-v1", "powr"),
        ("Taxi-v3", "powr"),
        ("Taxi-v3", "rmax"),
        ("MountainCar-v0", "powr"),
    ]
    assert study.combination("quick", "Taxi-v3", "rmax").settings["timesteps"] == 300
    message = "algorithm at scale quick: rmax is not one of powr"
    with pytest.raises(SuiteError, match=message):
        study.combination("quick", "FrozenLake-v1", "rmax")


@pytest.mark.parametrize(
    ("algorithm", "name", "kind"),
    [
        ("powr", "POWR", "the paper's POWR"),
        ("powr-tuned", "POWR, tuned", "beyond the paper"),
        ("rmax", "R-max", "textbook"),
        ("dqn", "DQN", "deep, library defaults"),
        ("dqn-authors", "DQN, authors", "deep, authors' settings"),
        ("dqn-zoo", "DQN, zoo", "deep, other settings"),
    ],
)
def test_kinds_and_names_of_algorithms(real_study, algorithm, name, kind):
    assert (algorithm_name(algorithm), real_study.algorithms[algorithm].kind) == (name, kind)


# -- digests --------------------------------------------------------------------------------------


def digests(study, scale="quick"):
    return {
        (each.environment, each.algorithm): each.digest
        for each in study_of(study).combinations(scale)
    }


@pytest.mark.parametrize(
    ("path", "value", "touched"),
    [
        (["algorithms", "dqn", "settings", "gamma"], 0.9, {"dqn"}),
        (["algorithms", "dqn", "environments", "Taxi-v3"], {"gamma": 0.9}, {("Taxi-v3", "dqn")}),
        (["environments", "Taxi-v3", "kwargs"], {"is_rainy": True}, {"Taxi-v3"}),
        (["evaluation", "episodes"], 21, {"FrozenLake-v1", "Taxi-v3", "MountainCar-v0"}),
        (
            ["scales", "quick", "timesteps", "Taxi-v3"],
            41_000,
            {("Taxi-v3", name) for name in ("powr", "a2c", "dqn", "ppo", "trpo")},
        ),
        (["scales", "quick", "overrides", "powr", "Taxi-v3"], 41_000, {("Taxi-v3", "powr")}),
        (["scales", "quick", "seeds"], 9, set()),
        (["environments", "Taxi-v3", "thresholds"], [1], set()),
        (
            ["algorithms", "dqn", "source"],
            {"kind": "chosen on development seeds", "file": "x"},
            set(),
        ),
    ],
)
def test_a_change_touches_exactly_its_runs(study, path, value, touched):
    del study["scales"]["quick"]["overrides"]["powr"]["Taxi-v3"]
    del study["scales"]["quick"]["only"]
    before = digests(study)
    set_in(study, path, value)
    after = digests(study)
    changed = {run for run in before if before[run] != after[run]}
    assert changed == {run for run in before if {run, *run} & touched}


def test_digest_depends_on_neither_order_nor_scale_name(study):
    study["algorithms"]["dqn"]["settings"] = {"gamma": 0.9, "tau": 0.5}
    before = digests(study)
    study["algorithms"]["dqn"]["settings"] = {"tau": 0.5, "gamma": 0.9}
    study["scales"]["swift"] = study["scales"].pop("quick")
    assert digests(study, "swift") == before


def test_settings_of_the_environment_win(study):
    study["algorithms"]["dqn"]["settings"] = {"gamma": 0.9, "tau": 0.5}
    study["algorithms"]["dqn"]["environments"] = {"Taxi-v3": {"gamma": 0.8}}
    resolved = study_of(study).combination("quick", "Taxi-v3", "dqn").settings
    assert resolved["algorithm"]["settings"] == {"gamma": 0.8, "tau": 0.5}
    resolved = study_of(study).combination("quick", "FrozenLake-v1", "dqn").settings
    assert resolved["algorithm"]["settings"] == {"gamma": 0.9, "tau": 0.5}


def test_a_run_of_a_scale_varies_nothing_though_a_universe_has_its_digest(study):
    branch = {"tier": "any", "environments": ["Taxi-v3"], "settings": {"step_size": [0.1]}}
    study["algorithms"]["powr"]["environments"]["Taxi-v3"] = {"step_size": 0.1}
    study["scales"]["quick"]["timesteps"]["Taxi-v3"] = 150
    study["scales"]["quick"].pop("overrides")
    study["multiverse"] = {
        "algorithm": "powr",
        "timesteps": {"Taxi-v3": 150},
        "seeds": 1,
        "branches": [branch],
    }
    study = study_of(study)
    digest = study.combination("quick", "Taxi-v3", "powr").digest
    assert {key for key in study.varied if digest in key} == {("multiverse", digest)}


# -- what is refused ------------------------------------------------------------------------------


NEW = {"id": "A-v0", "kwargs": {}, "thresholds": [0]}
TAXI, DQN = ["environments", "Taxi-v3"], ["algorithms", "dqn"]
SOURCE, QUICK = [*DQN, "source"], ["scales", "quick"]
MANY = {f"setting{number}": list(range(100)) for number in range(20)}
CHOSEN = {"kind": "chosen on development seeds"}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["extra"], 1, "extra is not known here: correct its spelling or remove it"),
        (["environments", "../up"], NEW, "'../up'"),
        ([*TAXI, "threshold"], 6, "Taxi-v3: threshold is not known here: did you mean thresholds?"),
        ([*TAXI, "thresholds"], [float("nan")], "Taxi-v3.thresholds.0: nan is no finite number"),
        (["environments", "A" * 300], NEW, "A..."),
        (["environments", "A\x1b[31m"], NEW, r"A\x1b[31m"),
        (["extra\x1b[31m"], 1, r"extra\x1b[31m is not known here"),
        ([*QUICK, "seeds"], 9_999, " runs, at most 100,000 are allowed"),
        (["multiverse", "branches", 0, "settings"], MANY, "multiverse: "),
        ([*TAXI, "id"], "../Taxi", "environments.Taxi-v3.id: '../Taxi'"),
        ([*DQN, "class"], "sac", "algorithms.dqn.class: sac is not one of"),
        ([*DQN, "revision"], 1.5, "algorithms.dqn.revision: 1.5"),
        (SOURCE, {"kind": "a friend"}, "algorithms.dqn.source: {'kind': 'a friend'}"),
        (SOURCE, {"kind": "authors' probable settings"}, "source: repository is missing: add it"),
        (SOURCE, {**CHOSEN, "fil": "x"}, "source: fil is not known here: did you mean file?"),
        (["evaluation", "episodes"], 0, "evaluation.episodes: 0"),
        ([*QUICK, "seeds"], True, "scales.quick.seeds: True"),
        ([*QUICK, "algorithms"], ["dqn", "dqn"], "is given twice: keep one of the two"),
        ([*QUICK, "algorithms"], ["pow"], "did you mean powr?"),
        ([*QUICK, "only"], {"rmax": {"Acrobot-v1": 5}}, "only.rmax: Acrobot-v1 is not one of"),
        ([*QUICK, "only"], {"dqn": {"Taxi-v3": 5}}, "dqn runs on every environment"),
    ],
)
def test_refuses_with_place_and_remedy(study, write_study, path, value, message):
    set_in(study, path, value)
    file = write_study(study)
    with pytest.raises(SuiteError, match=re.escape(message)) as caught:
        config.load(file)
    assert str(caught.value).startswith(str(file))
    assert str(caught.value).isprintable()


def test_sources_name_files_that_are_there(real_study):
    sources = [algorithm.source for algorithm in real_study.algorithms.values()]
    files = {source.file for source in sources if source.kind == "chosen on development seeds"}
    assert all((ROOT / file).exists() for file in files)


# Each line holds ten times what the line above holds.
BOMB = "k0: &k0 [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"k{n}: &k{n} [{','.join([f'*k{n - 1}'] * 10)}]\n" for n in range(1, 60)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file: None: "),
        ("a: [", "envs.yaml:1:5: the file ends within a value: close its bracket or quote"),
        ("a:\n    b: 1\n  c: 2\n", "envs.yaml:3:3: wrong indentation: align this line with"),
        ("a:\n  b: 1\n    c: 2\n", "envs.yaml:3:6: a key where none may stand: correct the indent"),
        ("a:\n\tb: 1\n", "envs.yaml:2:1: a tab: indent with spaces"),
        ("a: 1\na: 2\n", "envs.yaml:2:1: the key a is given twice"),
        ("a: !!python/object/apply:os.system [exit]\n", "envs.yaml:1:4"),
        ("a: 2020-01-01\n", "no finite number"),
        ("a: 010\n", "envs.yaml:1:4: YAML reads 010 in base 8 or 60"),
        ("a: [1:30]\n", "envs.yaml:1:5: YAML reads 1:30 in base 8 or 60"),
        ("a: &x 1\nb: &x 2\n", "envs.yaml:2:4: an anchor (&) of this name is there already"),
        ("a: &x [*x]\n", "envs.yaml:1:8: an alias within what it names"),
        (BOMB, "envs.yaml:5:5: more than 100,000 values"),
        ("a: b\x00c\n", "is not the YAML expected here"),
    ],
)
def test_refuses_text_that_is_no_study(write_study, text, message):
    with pytest.raises(SuiteError, match=re.escape(message)):
        config.load(write_study(text))


def test_refuses_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SuiteError, match=r"absent\.yaml: cannot be read: No such file"):
        config.load(tmp_path / "absent.yaml")
    with pytest.raises(SuiteError, match="cannot be read: Is a directory"):
        config.load(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("ä: 1".encode("latin-1"))
    with pytest.raises(SuiteError, match=r"latin\.yaml: is not UTF-8"):
        config.load(tmp_path / "latin.yaml")


def test_reads_numbers_in_scientific_notation(tmp_path):
    (tmp_path / "numbers.yaml").write_text("[1e-6, 1E3, -2.5e+1, .5e1, 1e]")
    assert config.read_yaml(tmp_path / "numbers.yaml") == [1e-6, 1000.0, -25.0, 5.0, "1e"]
