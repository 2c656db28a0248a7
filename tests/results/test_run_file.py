"""A run file that is not exactly what its run wrote is refused, by name and with the remedy."""

import json

import pytest

from suite.results.run_file import RunFileError, read_run_file
from tests.support.run_files import STUDY, clock, csv_text, run_of, write_run

GOOD = csv_text({100: 0.0, 1000: 0.5, 5000: 1.0}, exact=0.0)
RUN = run_of("FrozenLake-v1", "dqn", 1)
CLOCK = clock({100: 0.0, 1000: 0.5, 5000: 1.0}, 0.1, 1.0)
SETTINGS = STUDY.combination("tiny", "FrozenLake-v1", "dqn").settings


def test_reads_what_a_run_wrote(tmp_path):
    write_run(tmp_path, RUN, GOOD.replace("0.5,0.5", "0.1234567890123456,0.5"))
    table, document = read_run_file(tmp_path, RUN, SETTINGS)
    assert table["timestep"].tolist() == [100, 1000, 5000]
    assert table["mean"].tolist() == [0.0, 0.1234567890123456, 1.0]
    assert table["sampled_mean"].isna().all()
    assert document.digest == RUN.digest


@pytest.mark.parametrize("content", [GOOD[:-4], GOOD.replace("0.5,0.5", "0.6,0.5")])
def test_refuses_other_content_than_the_run_wrote(tmp_path, content):
    path = write_run(tmp_path, RUN, GOOD)
    path.write_text(content)
    with pytest.raises(RunFileError, match="not what the run wrote") as caught:
        read_run_file(tmp_path, RUN, SETTINGS)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith("Delete it and the .json beside it, and run again")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a table"),
        (GOOD[: GOOD.index("5000")], "not at the timesteps that are planned"),
        (GOOD.replace("std", "spread"), "its columns are not timestep, mean, std"),
        (GOOD.replace("0.5,0.5", "secret,0.5"), "not a table of numbers"),
        (GOOD.replace("0.5,0.5", ",0.5"), "empty or not finite"),
        (GOOD.replace("0.5,0.5", "inf,0.5"), "empty or not finite"),
        (GOOD.replace(",20,", ",2.5,"), "whole"),
    ],
)
def test_refuses_a_table_that_no_run_writes(tmp_path, content, message):
    """Its checksum is right: somebody computed it anew."""
    path = write_run(tmp_path, RUN, content, **CLOCK)
    with pytest.raises(RunFileError, match=message) as caught:
        read_run_file(tmp_path, RUN, SETTINGS)
    assert str(caught.value).startswith(str(path))
    assert "secret" not in str(caught.value)


def test_recognises_line_ends_of_windows_and_does_not_advise_to_delete(tmp_path):
    path = write_run(tmp_path, RUN, GOOD)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(RunFileError, match="CRLF") as caught:
        read_run_file(tmp_path, RUN, SETTINGS)
    assert "elete" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document["settings"].update(seed=2), "of another seed"),
        (lambda document: document.update(digest="0" * 12), "of another seed or of other settings"),
        (lambda document: document["settings"].update(timesteps=7), "of other settings"),
        (lambda document: document.pop("csv_sha256"), "csv_sha256 is missing or wrong"),
        (lambda document: document["provenance"].update(git="secret"), r"provenance\.git"),
        (lambda document: document["evaluations"].pop(), "times other evaluations"),
        (lambda document: document["evaluations"][1].pop("seconds"), r"evaluations\.1\.seconds"),
        (lambda document: document["evaluations"][1].update(cpu_seconds=1.0), "evaluations"),
        (lambda document: document.update(duration_seconds=float("nan")), "duration_seconds"),
    ],
)
def test_refuses_json_that_is_not_of_this_run(tmp_path, change, message):
    beside = write_run(tmp_path, RUN, GOOD).with_suffix(".json")
    document = json.loads(beside.read_text())
    change(document)
    beside.write_text(json.dumps(document))
    with pytest.raises(RunFileError, match=message) as caught:
        read_run_file(tmp_path, RUN, SETTINGS)
    assert len(str(caught.value).splitlines()) == 1
    assert "secret" not in str(caught.value)
