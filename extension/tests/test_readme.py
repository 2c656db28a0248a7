"""The README's example, and its tables, of made-up results."""

import math

import pandas as pd

from extension import readme
from tests.docs.pages import run


def test_its_python_runs_as_printed(tmp_path):
    assert "'prior': (-1.0, " in run(readme.README.absolute(), tmp_path)


def test_a_choice_is_judged_by_where_undoing_it_makes_a_visible_difference():
    rows = [
        ("Lake", "default settings", 100.0, 1.0),
        ("Car", "default settings", 100.0, -100.0),
        ("Lake", "no optimism", 200.0, 0.96),
        ("Car", "no optimism", math.nan, -106.0),
        ("Lake", "no rhythm", 50.0, 1.06),
        ("Car", "no rhythm", 150.0, -100.0),
    ]
    columns = ["environment", "change", "median_first_arrival", "late_return"]
    *_, optimism, rhythm = readme.undone(pd.DataFrame(rows, columns=columns)).splitlines()
    assert [cell.strip() for cell in optimism.split("|")[1:-1]] == ["no optimism", *"2100"]
    assert [cell.strip() for cell in rhythm.split("|")[1:-1]] == ["no rhythm", *"0011"]


def test_a_task_is_a_row_beside_what_is_best_known():
    rows = [
        ("Offers", "optimistic-powr", "deterministic", 7, 0.8, 0.7),
        ("Offers", "optimistic-powr", "sampled", 7, 0.6, 0.5),
        ("Offers", "random-play", "deterministic", 7, 0.1, 0.1),
        ("Offers", "random-play", "sampled", 7, 0.3, 0.2),
        ("Offers", "dqn", "deterministic", 0, math.nan, math.nan),
    ]
    columns = ["environment", "algorithm", "policy", "seeds", "final_mean", "final_min"]
    summary = pd.DataFrame(rows, columns=columns).assign(seeds_planned=7)
    *_, row, _, missing = readme.operations(summary).splitlines()
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells == ["Offers", "0.8 (0.7)", "0.3", "0.9 (rule)"]
    assert missing == "14 of 21 runs are finished."


def test_a_part_is_renewed_between_its_comments():
    text = f"Before.\n{readme.BEGIN.format('results')}old\n{readme.END}After.\n"
    once = readme.renew(text, {"results": "new"})
    assert once == f"Before.\n{readme.BEGIN.format('results')}\nnew\n\n{readme.END}After.\n"
    assert readme.renew(once, {"results": "new"}) == once
