"""The README's table is renewed in its place, and nowhere else."""

import pandas as pd
import pytest

from suite import SuiteError
from suite.claims.verdicts import THEORY_VERDICTS
from suite.release import readme

SUMMARY = pd.DataFrame(
    {
        "environment": "Taxi-v3",
        "algorithm": ["powr", "dqn"],
        "source": "library defaults",
        "policy": "deterministic",
        "seeds": [7, 2],
        "seeds_planned": 7,
        "timesteps": [150_000, 1_500_000],
        "threshold": 6.0,
        "n_reached": [7, 0],
        "timesteps_to_threshold": [12_589.0, float("nan")],
        "timesteps_to_threshold_low": float("nan"),
        "timesteps_to_threshold_high": float("nan"),
        "earliest": [11_220.0, float("nan")],
        "latest": [14_125.0, float("nan")],
    }
)


TOP = f"{readme.BEGIN_VERDICTS}old\n{readme.END}"
COUNTS = {
    "Experiments": {"reproduced": 9, "partly": 2, "not reproduced": 0, "not tested": 1},
    "Theory": dict(zip(THEORY_VERDICTS, range(5), strict=True)),
}


def test_table_is_renewed_between_its_comments():
    text = f"{TOP}before\n{readme.BEGIN}old\n{readme.END}after\n"
    new = readme.renew(text, SUMMARY, COUNTS)
    assert new.startswith(
        f"{readme.BEGIN_VERDICTS}\n| sentences of the paper | reproduced | partly |"
    )
    assert "| Experiments | 9 | 2 | 0 | 1 |\n\n|  | identity checked |" in new
    assert (
        f"| Theory | 0 | 1 | 2 | 3 | 4 |\n\n{readme.END}before\n{readme.BEGIN}9 of 14 runs " in new
    )
    assert "| algorithm | Taxi-v3, return 6 |" in new
    assert "| POWR | 7 of 7: 12,589 |\n| DQN | 0 of 2 |\n" in new
    assert new.endswith(f"\n\n{readme.END}after\n")
    assert readme.renew(new, SUMMARY, COUNTS) == new


def test_table_shows_what_the_paper_shows():
    peer = SUMMARY.iloc[[0]].assign(algorithm="rmax", source="chosen on development seeds")
    assert readme.block(pd.concat([SUMMARY, peer])) == readme.block(SUMMARY)


def test_a_readme_without_the_comments_is_refused():
    with pytest.raises(SuiteError, match=r"README\.md: lacks the lines"):
        readme.renew(f"{TOP}before\n{readme.BEGIN}after\n", SUMMARY, {})
