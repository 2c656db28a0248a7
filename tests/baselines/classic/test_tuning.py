"""The choice of the peers' constants: equal effort, development seeds, a rule that is applied."""

import json
import math
from pathlib import Path

from benchmarks.tune_peers import (
    SEEDS,
    SETTINGS,
    Outcome,
    choose,
    read,
    write,
)

MODULES = {path.stem for path in Path("baselines", "classic").glob("*.py")}
SHARED = {"__init__", "agent", "finite", "box", "batch", "count_model", "planning", "tile_coder"}
UNTUNED = {"random_play"}


def test_every_peer_is_tuned_with_ten_settings_on_development_seeds():
    assert set(SETTINGS) - {"powr"} == MODULES - SHARED - UNTUNED
    assert min(SEEDS) >= 1000
    for environments in SETTINGS.values():
        for settings in environments.values():
            assert len({json.dumps(setting) for setting in settings}) == len(settings) == 10


def test_the_smallest_median_lasting_arrival_wins_and_ties_go_to_the_larger_return(tmp_path):
    def rows(setting, lasting, final):
        return [Outcome("env", setting, i, 1, time, final) for i, time in enumerate(lasting)]

    table = [
        *rows("a", [1, 5, math.inf], 1.0),
        *rows("b", [4, 4, 4], 0.5),
        *rows("c", [4, 4, math.inf], 0.7),
        *rows("d", [math.inf] * 3, 2.0),
        *rows("a seed is missing", [1, 1], 3.0),
    ]
    write(tmp_path / "table.csv", table)
    assert read(tmp_path / "table.csv") == table
    assert choose(table, "env")[0] == "c"
