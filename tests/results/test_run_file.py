"""A run file that is not exactly what its run wrote is refused, by name and with the remedy."""

import json

import pytest

from suite.results.run_file import RunFileError, read_run_file
from tests.support.run_files import csv_text, run_of, write_run

GRID = [100, 1000, 5000]
GOOD = csv_text({100: 0.0, 1000: 0.5, 5000: 1.0}, exact=0.0)
RUN = run_of("FrozenLake-v1", "dqn", 1)


def read(results):
    return read_run_file(results, RUN, GRID, 20)


def test_reads_what_a_run_wrote(tmp_path):
    write_run(tmp_path, RUN, GOOD)
    table, metadata = read(tmp_path)
    assert table["timestep"].tolist() == GRID
    assert table["mean"].tolist() == [0.0, 0.5, 1.0]
    assert table["exact_return"].tolist() == [0.0, 0.5, 1.0]
    assert table["sampled_mean"].isna().all()
    assert metadata["digest"] == RUN.digest


FAULTS = {
    "its last line is cut short": GOOD[:-4],
    "ends with timestep 1000 where 5000 is due": GOOD[: GOOD.index("5000")],
    "ends with timestep nothing": GOOD[: GOOD.index("100")],
    "its header is": GOOD.replace("exact_return", "exact", 1),
    "its header is 'timestep,mean": GOOD.replace("\n", ",extra\n", 1),
    "its header is ''": "",
    "line 3 does not have 9 fields": GOOD.replace("1000,", "1000,7,"),
    "line 3 is of timestep 1001 where 1000 is due": GOOD.replace("1000,", "1001,"),
    "line 3 is of timestep 5000": csv_text({100: 0, 5000: 1, 1000: 0.5}),
    "line 3 is of timestep 100 ": GOOD.replace("1000,", "100,", 1),
    "1 lines beyond timestep 5000": csv_text({100: 0, 1000: 1, 5000: 1, 6000: 1}),
    "'abc' in the column mean": GOOD.replace("0.5,0.5", "abc,0.5"),
    "'nan' in the column mean": GOOD.replace("0.5,0.5", "nan,0.5"),
    "'' in the column mean": GOOD.replace("0.5,0.5", ",0.5"),
    "'inf' in the column max": GOOD.replace(",1.5,", ",inf,"),
    "'' in the column exact_return": GOOD.replace("1.5,20,0.5", "1.5,20,"),
    "line 3 has 19 episodes where 20 are due": GOOD.replace("1.5,20", "1.5,19"),
    "line 3 has its mean outside min..max": GOOD.replace("0.5,0.5,-0.5", "0.5,0.5,0.75"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_refuses_a_faulty_file_even_if_its_json_vouches_for_it(tmp_path, fault):
    path = write_run(tmp_path, RUN, FAULTS[fault])
    with pytest.raises(RunFileError) as caught:
        read(tmp_path)
    message = str(caught.value)
    assert fault in message
    assert message.startswith(str(path))
    assert message.endswith("Delete it and the .json beside it, and run again")


def test_refuses_an_edited_number(tmp_path):
    path = write_run(tmp_path, RUN, GOOD)
    path.write_text(GOOD.replace("0.5,0.5", "0.6,0.5"))
    with pytest.raises(RunFileError, match="not what the run wrote"):
        read(tmp_path)


def test_refuses_bytes_that_are_no_text(tmp_path):
    path = write_run(tmp_path, RUN, GOOD)
    path.write_bytes(b"\xff" + GOOD.encode())
    with pytest.raises(RunFileError, match="not what the run wrote"):
        read(tmp_path)


def test_refuses_a_file_without_its_json(tmp_path):
    write_run(tmp_path, RUN, GOOD).with_suffix(".json").unlink()
    with pytest.raises(RunFileError, match=r"seed1-\w+\.json is missing"):
        read(tmp_path)


@pytest.mark.parametrize("document", ["", "[]", "{}", '{"settings": 3}'])
def test_refuses_a_json_that_is_not_of_a_run(tmp_path, document):
    write_run(tmp_path, RUN, GOOD).with_suffix(".json").write_text(document)
    with pytest.raises(RunFileError, match="is not the JSON of a run"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document["settings"].update(seed=2), "is of seed 2"),
        (lambda document: document.update(digest="0" * 12), "digest 000000000000"),
        (lambda document: document["settings"].update(timesteps=7), "or of other settings"),
        (lambda document: document["provenance"].pop("cpu"), "lacks the provenance cpu"),
        (lambda document: document.pop("csv_sha256"), "not what the run wrote"),
    ],
)
def test_refuses_the_json_of_another_run(tmp_path, change, message):
    beside = write_run(tmp_path, RUN, GOOD).with_suffix(".json")
    document = json.loads(beside.read_text())
    change(document)
    beside.write_text(json.dumps(document))
    with pytest.raises(RunFileError, match=message):
        read(tmp_path)
