"""The README's tables, of made-up results."""

import math

import pandas as pd

from extension import readme


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


def test_a_part_is_renewed_between_its_comments():
    text = f"Before.\n{readme.BEGIN.format('results')}old\n{readme.END}After.\n"
    once = readme.renew(text, {"results": "new"})
    assert once == f"Before.\n{readme.BEGIN.format('results')}\nnew\n\n{readme.END}After.\n"
    assert readme.renew(once, {"results": "new"}) == once
