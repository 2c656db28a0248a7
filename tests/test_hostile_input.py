"""Malformed input through the front doors: one short message that names it, and nothing written.

The loaders have more of it in test_config.py, test_run_file.py and test_claims.py, the command
line of powr in tests/powr/test_cli.py, and saved agents in tests/powr/test_storage.py.
"""

import copy
import shutil
from functools import partial
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from suite import SuiteError, config
from suite.claims import document as documents
from suite.claims import judge
from suite.config import Study
from suite.report import report
from suite.results import aggregate
from suite.training import environments
from suite.training import run as training
from suite.training.evaluation import planned_grid
from tests.support.command_line import call
from tests.support.run_files import RAW, clock, csv_text, set_in, study_of, write_run

ROOT = Path(__file__).parents[1]
DOORS = {
    "run": (training.main, "--env FrozenLake-v1 --algorithm powr --seed 0 --out out.csv"),
    "aggregate": (aggregate.main, ""),
    "claims": (judge.main, ""),
    "report": (report.main, ""),
}
LAKE_FINGERPRINT = "772fc8b107c89df6c910bac798c30dea53758a43db18df74b6b0a03cf7147ec0"
STUDY = copy.deepcopy(RAW)
STUDY["environments"]["FrozenLake-v1"]["fingerprint"] = LAKE_FINGERPRINT
HOSTILE = "tests.support.hostile_environments"


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with a small study, all its run files, and the real claims and deviations."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "envs.yaml").write_text(yaml.safe_dump(STUDY, sort_keys=False))
    for name in ("claims.yaml", "deviations.yaml"):
        shutil.copy(ROOT / name, folder)
    study = study_of(STUDY)
    for each in study.combinations("tiny"):
        means = dict.fromkeys(planned_grid(each.settings), 0.0)
        for run in each.runs:
            spent = clock(means, 0.1, 1.0)
            write_run(folder / "results", run, csv_text(means), study=study, **spent)
    for name, text in aggregate.aggregate(study, "tiny", folder / "results", False).items():
        (folder / "results/tiny" / name).write_text(text)
    return folder


@pytest.fixture
def folder(sound, tmp_path, monkeypatch):
    shutil.copytree(sound, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(capsys, folder, door, extra, *messages):
    main, options = DOORS[door]
    before = content(folder)
    code, _, errors = call(capsys, main, f"--scale tiny {options} {extra}".split())
    assert code in (1, 2)
    assert len(errors.splitlines()) <= 6, errors
    assert "Traceback" not in errors
    for message in messages:
        assert message in errors
    assert content(folder) == before


# -- files: what a model refuses is in tests/config, here is what comes later ----------------------


def put(*keys, value):
    """Change one value of envs.yaml."""

    def change(folder):
        study = yaml.safe_load((folder / "envs.yaml").read_text())
        set_in(study, keys, value)
        write("envs.yaml", yaml.safe_dump(study, sort_keys=False))(folder)

    return change


def write(name, text):
    return lambda folder: (folder / name).write_text(text)


LAKE, POWR = ("environments", "FrozenLake-v1"), ("algorithms", "powr", "settings")
CODE = "scales: !!python/object/apply:os.mkdir [made]\n"
FILES = {
    "unknown module": ("run", put(*LAKE, "id", value="no_module:Lake-v1"), "no_module"),
    "unknown argument": ("run", put(*LAKE, "kwargs", value={"depth": 3}), "'depth'"),
    "unknown kernel": ("run", put(*POWR, value={"kernel": {"name": "Cosine"}}), "'Cosine' is not"),
    "no bandwidth": ("run", put(*POWR, value={"kernel": {"name": "Gaussian"}}), "bandwidth"),
    **{f"code, {door}": (door, write("envs.yaml", CODE), "envs.yaml:") for door in DOORS},
    "claims of text": ("claims", write("claims.yaml", "all hold"), "'all hold'"),
    "empty verdicts": ("report", write("results/tiny/cells.csv", ""), "csv: is not a table"),
}


@pytest.mark.parametrize(("door", "change", "message"), FILES.values(), ids=FILES)
def test_a_file_that_is_wrong(folder, capsys, door, change, message):
    change(folder)
    refused(capsys, folder, door, "", message)


# -- command lines --------------------------------------------------------------------------------

LINES = {
    "scale that climbs": ("aggregate", "--scale ../tiny", "scale: ../tiny is not one of tiny"),
    "out in a file": ("aggregate", "--out-dir envs.yaml/out", "Not a directory"),
    "unknown environment": ("run", "--env Lake", "environment at scale tiny: Lake is not one of"),
    "negative seed": ("run", "--seed -1", "--seed -1: must be a whole number"),
    "out without a suffix": ("run", "--out results", "must name a file that ends in .csv"),
}


@pytest.mark.parametrize(("door", "extra", "message"), LINES.values(), ids=LINES)
def test_a_command_line_that_is_wrong(folder, capsys, door, extra, message):
    before = sorted(folder.parent.iterdir())
    refused(capsys, folder, door, extra, message)
    assert sorted(folder.parent.iterdir()) == before


# -- environments ---------------------------------------------------------------------------------

ENVIRONMENTS = {
    "FailsToStart-v0": ("cannot be made: RuntimeError: no licence for this machine",),
    "RaisesInReset-v0": ("failed in reset: RuntimeError: out of order (hostile_environments.py",),
    "RaisesInStep-v0": ("failed in step(", "KeyError: 'missing' (hostile_environments.py, line"),
    "NanReward-v0": ("failed in step(", "the reward nan is not finite"),
    "InfiniteObservation-v0": ("failed in step(", "the observation [inf 0. 0.] is not finite"),
    "OldStep-v0": ("failed in step(", "not enough values to unpack"),
    "ContinuousActions-v0": ("powr does not accept", "the action space must be Discrete"),
    "Endless-v0": ("has no time limit", "give it max_episode_steps, in its kwargs in envs.yaml"),
}


def use_environment(folder, name, **kwargs):
    study = yaml.safe_load((folder / "envs.yaml").read_text())
    entry = {"id": f"{HOSTILE}:{name}", "kwargs": kwargs, "thresholds": [0]}
    study["environments"]["FrozenLake-v1"] = entry
    return study, entry


@pytest.mark.parametrize(("name", "messages"), ENVIRONMENTS.items(), ids=ENVIRONMENTS)
def test_an_environment_that_misbehaves(folder, capsys, name, messages):
    study, entry = use_environment(folder, name)
    if name.startswith("Continuous"):
        entry["fingerprint"] = environments.fingerprint(environments.make(entry))
    (folder / "envs.yaml").write_text(yaml.safe_dump(study))
    refused(capsys, folder, "run", "", f"{HOSTILE}:{name}", *messages)


@pytest.mark.parametrize("algorithm", ["powr", "dqn"])
def test_an_environment_that_misbehaves_in_the_middle_of_training(folder, capsys, algorithm):
    study, entry = use_environment(folder, "NanReward-v0", faulty_from=1050)
    entry["fingerprint"] = environments.fingerprint(environments.make(entry))
    study["scales"]["tiny"]["timesteps"]["FrozenLake-v1"] = 3000
    (folder / "envs.yaml").write_text(yaml.safe_dump(study))
    main, options = DOORS["run"]
    assert main(f"--scale tiny {options} --algorithm {algorithm}".split()) == 1
    errors = capsys.readouterr().err
    assert "Traceback" not in errors
    assert "the reward nan is not finite" in errors.splitlines()[-1]
    assert not (folder / "out.csv").exists()
    assert not (folder / "out.json").exists()


# -- anything at all ------------------------------------------------------------------------------

CLAIMS_DOCUMENT = documents.load(ROOT / "claims.yaml")
FRAGMENTS = st.sampled_from(
    [*"{}[]:,-?&*!|>'\"%@`#\n\t \\", "- ", ": ", "!!python/object:os.x", "<<: *a", "&a ", "..", "/"]
)
TEXT_LIKE_YAML = st.lists(FRAGMENTS | st.text(max_size=3) | st.integers().map(str), max_size=30)


@settings(max_examples=200)
@given(TEXT_LIKE_YAML.map("".join))
def test_any_text_is_plain_data_or_refused(tmp_path_factory, text):
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    deviations = partial(documents.load_deviations, document=CLAIMS_DOCUMENT)
    for load in (config.load, documents.load, deviations):
        with pytest.raises(SuiteError) as caught:
            load(file)
        assert str(caught.value).startswith(str(file))
        assert len(str(caught.value).splitlines()) <= 3


@settings(max_examples=100)
@given(st.text(min_size=1, max_size=12) | st.sampled_from(["..", ".", "a/b", "/a", "~", "a\x00"]))
def test_names_that_are_accepted_stay_in_their_folder(name):
    study = {**STUDY, "scales": {name: STUDY["scales"]["tiny"]}}
    try:
        study = config.check_model(study, Study, "envs.yaml")
    except SuiteError:
        return
    results = Path("/results")
    for one in study.runs(name):
        assert (results / one.path).resolve().parents[3] == results
