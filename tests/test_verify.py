"""Making what is shipped again: runs identical, like one more seed, or in disagreement.

tests/workflow has a whole verification.
"""

import json

import numpy as np
import pytest

from suite.verify import DIFFERS, IDENTICAL, OPEN, WITHIN, judge_run
from tests.support.run_files import PROVENANCE, csv_text, run_of, write_run

ELSEWHERE = {**PROVENANCE, "cpu": "another"}


def trained(folder, seed, late, provenance=PROVENANCE, agent=0.0, **metadata):
    """A run whose return is 0 at 100 timesteps, `late` at 1,000 and 1 at 5,000."""
    text = csv_text({100: 0.0, 1000: late, 5000: 1.0})
    path = write_run(folder, run_of("FrozenLake-v1", "powr", seed), text, provenance)
    metadata = json.dumps({"version": "0.1.0", "plans": 1, **metadata})
    np.savez(path.with_suffix(".npz"), metadata=metadata, coefficients=np.full(3, agent))
    return path


@pytest.fixture
def seeds(tmp_path):
    return [trained(tmp_path / "shipped", seed, late) for seed, late in enumerate([0.2, 0.4, 0.6])]


def test_the_same_bits_are_identical_on_any_machine_and_version(seeds, tmp_path):
    for provenance in (PROVENANCE, ELSEWHERE):
        again = trained(tmp_path / "here", 0, 0.2, provenance, version="1.0.0")
        assert judge_run(seeds[0], again, seeds) == (IDENTICAL, "evaluations and agent")
    again.with_suffix(".npz").unlink()  # a baseline has no agent
    assert judge_run(seeds[0], again, seeds) == (IDENTICAL, "evaluations")


@pytest.mark.parametrize(
    "change", [{"late": 0.21}, {"late": 0.2, "agent": 1e-9}, {"late": 0.2, "plans": 2}]
)
def test_on_the_same_versions_and_processor_every_bit_counts(seeds, tmp_path, change):
    finding, detail = judge_run(seeds[0], trained(tmp_path / "here", 0, **change), seeds)
    assert finding == DIFFERS
    assert "on the same versions and processor" in detail


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"python": "3.11.2"}, "python 3.11.2 for 3.11.9"),
        ({"platform": "Linux aarch64"}, "platform Linux aarch64 for Linux x86_64"),
        ({"cpu": "another processor"}, "cpu another processor for a processor"),
        ({"packages": {"numpy": "2.5.0"}}, "numpy 2.5.0 for 2.4.6"),
        ({"thread_pools": [{"architecture": "Zen"}]}, "another processor"),
    ],
)
def test_elsewhere_it_is_like_one_more_seed(seeds, tmp_path, change, words):
    again = trained(tmp_path / "here", 0, 0.7, {**PROVENANCE, **change}, agent=1.0)
    finding, detail = judge_run(seeds[0], again, seeds)
    assert finding == WITHIN
    assert words in detail


@pytest.mark.parametrize(
    ("late", "expected"), [(0.1, WITHIN), (0.7, WITHIN), (-0.3, DIFFERS), (1.1, DIFFERS)]
)
def test_one_more_seed_may_lie_beyond_the_others_by_their_range(seeds, tmp_path, late, expected):
    again = trained(tmp_path / "here", 0, late, ELSEWHERE)
    assert judge_run(seeds[0], again, seeds)[0] == expected
    assert judge_run(seeds[0], again, seeds[:1])[0] == OPEN
