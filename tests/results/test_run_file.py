"""A run file that is not exactly what its run wrote is refused, by name and with the remedy."""

import json

import pytest

from suite import config
from suite.results.run_file import RunFileError, read_run_file
from tests.support.run_files import STUDY, csv_text, run_of, write_run

GOOD = csv_text({100: 0.0, 1000: 0.5, 5000: 1.0}, exact=0.0)
RUN = run_of("FrozenLake-v1", "dqn", 1)
SETTINGS = config.resolve(STUDY, "tiny", "FrozenLake-v1", "dqn")


def test_reads_what_a_run_wrote(tmp_path):
    write_run(tmp_path, RUN, GOOD)
    table, metadata = read_run_file(tmp_path, RUN, SETTINGS)
    assert table["timestep"].tolist() == [100, 1000, 5000]
    assert table["mean"].tolist() == table["exact_return"].tolist() == [0.0, 0.5, 1.0]
    assert table["sampled_mean"].isna().all()
    assert set(table["algorithm"]) == {"dqn"}
    assert metadata["digest"] == RUN.digest


FAULTS = {
    "its last line is cut short": GOOD[:-4],
    "line 4 has timestep none where 5000 is due": GOOD[: GOOD.index("5000")],
    "line 2 has timestep none where 100 is due": GOOD[: GOOD.index("100")],
    "line 5 has timestep 6000.0 where none is due": GOOD + "6000,1.0,0.5,0.0,2.0,20,1.0,,\n",
    "line 3 has timestep 1001.0 where 1000 is due": GOOD.replace("1000,", "1001,"),
    "its header is 'timestep,mean": GOOD.replace("\n", ",extra\n", 1),
    "its header is ''": "",
    "line 3 does not have 9 fields": GOOD.replace("1000,", "1000,7,"),
    "'abc' in the column mean": GOOD.replace("0.5,0.5", "abc,0.5"),
    "'nan' in the column mean": GOOD.replace("0.5,0.5", "nan,0.5"),
    "'' in the column mean": GOOD.replace("0.5,0.5", ",0.5"),
    "'' in the column exact_return": GOOD.replace("1.5,20,0.5", "1.5,20,"),
    "line 3 does not have 20 episodes": GOOD.replace("1.5,20", "1.5,19"),
    "line 3 has its mean outside min..max": GOOD.replace("0.5,0.5,-0.5", "0.5,0.5,0.75"),
    "line 3 has a negative std": GOOD.replace("0.5,0.5,-0.5", "0.5,-0.5,-0.5"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_refuses_a_faulty_file_even_if_its_json_vouches_for_it(tmp_path, fault):
    path = write_run(tmp_path, RUN, FAULTS[fault])
    with pytest.raises(RunFileError) as caught:
        read_run_file(tmp_path, RUN, SETTINGS)
    message = str(caught.value)
    assert fault in message
    assert message.startswith(str(path))
    assert message.endswith("Delete it and the .json beside it, and run again")


@pytest.mark.parametrize("content", [GOOD.replace("0.5,0.5", "0.6,0.5").encode(), b"\xff"])
def test_refuses_other_content_than_the_run_wrote(tmp_path, content):
    write_run(tmp_path, RUN, GOOD).write_bytes(content)
    with pytest.raises(RunFileError, match="not what the run wrote"):
        read_run_file(tmp_path, RUN, SETTINGS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document["settings"].update(seed=2), "belongs to seed 2"),
        (lambda document: document.update(digest="0" * 12), "digest 000000000000"),
        (lambda document: document["settings"].update(timesteps=7), "or to other settings"),
        (lambda document: document["provenance"].pop("cpu"), "lacks the provenance cpu"),
        (lambda document: document.pop("csv_sha256"), "not what the run wrote"),
        (lambda document: document.pop("settings"), "is not the JSON of a run"),
        (lambda document: document.update(settings=3), "is not the JSON of a run"),
    ],
)
def test_refuses_the_json_of_another_run(tmp_path, change, message):
    beside = write_run(tmp_path, RUN, GOOD).with_suffix(".json")
    document = json.loads(beside.read_text())
    change(document)
    beside.write_text(json.dumps(document))
    with pytest.raises(RunFileError, match=message):
        read_run_file(tmp_path, RUN, SETTINGS)


def test_refuses_a_json_that_is_missing_or_damaged(tmp_path):
    beside = write_run(tmp_path, RUN, GOOD).with_suffix(".json")
    beside.write_text("")
    with pytest.raises(RunFileError, match="is not the JSON of a run"):
        read_run_file(tmp_path, RUN, SETTINGS)
    beside.unlink()
    with pytest.raises(RunFileError, match=r"seed1-\w+\.json is missing"):
        read_run_file(tmp_path, RUN, SETTINGS)
