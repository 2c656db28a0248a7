"""A run file that is not exactly what its run wrote is refused, by name and with the remedy."""

import json

import pytest

from suite.results.run_file import RunFileError, read_run_file
from tests.support.run_files import STUDY, csv_text, run_of, write_run

GOOD = csv_text({100: 0.0, 1000: 0.5, 5000: 1.0}, exact=0.0)
RUN = run_of("FrozenLake-v1", "dqn", 1)
SETTINGS = STUDY.scales["tiny"].combination("FrozenLake-v1", "dqn").settings


def test_reads_what_a_run_wrote(tmp_path):
    write_run(tmp_path, RUN, GOOD.replace("0.5,0.5", "0.1234567890123456,0.5"))
    table, metadata = read_run_file(tmp_path, RUN, SETTINGS)
    assert table["timestep"].tolist() == [100, 1000, 5000]
    assert table["mean"].tolist() == [0.0, 0.1234567890123456, 1.0]
    assert table["sampled_mean"].isna().all()
    assert metadata["digest"] == RUN.digest


@pytest.mark.parametrize("content", [GOOD[:-4], GOOD.replace("0.5,0.5", "0.6,0.5")])
def test_refuses_other_content_than_the_run_wrote(tmp_path, content):
    path = write_run(tmp_path, RUN, GOOD)
    path.write_text(content)
    with pytest.raises(RunFileError, match="not what the run wrote") as caught:
        read_run_file(tmp_path, RUN, SETTINGS)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith("Delete it and the .json beside it, and run again")


def test_refuses_evaluations_at_other_timesteps(tmp_path):
    write_run(tmp_path, RUN, GOOD[: GOOD.index("5000")])
    with pytest.raises(RunFileError, match="not at the timesteps that are planned"):
        read_run_file(tmp_path, RUN, SETTINGS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document["settings"].update(seed=2), "belongs to seed 2"),
        (lambda document: document.update(digest="0" * 12), "digest 000000000000"),
        (lambda document: document["settings"].update(timesteps=7), "or to other settings"),
        (lambda document: document.pop("csv_sha256"), "is not the JSON of a run"),
    ],
)
def test_refuses_the_json_of_another_run(tmp_path, change, message):
    beside = write_run(tmp_path, RUN, GOOD).with_suffix(".json")
    document = json.loads(beside.read_text())
    change(document)
    beside.write_text(json.dumps(document))
    with pytest.raises(RunFileError, match=message):
        read_run_file(tmp_path, RUN, SETTINGS)
