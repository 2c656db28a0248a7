"""Adding one episode to a fitted world model, against a fit from nothing to all the data."""

from __future__ import annotations

from benchmarks.growth import new_model
from benchmarks.measure import Spread, ratios, timed
from benchmarks.mountain_car import explore
from benchmarks.table import Table

NAME = "episode"
EPISODE = 200


def tables(quick: bool, repeats: int) -> list[Table]:
    n, rank = (2000, 100) if quick else (100_000, 500)
    data = explore(n + repeats * EPISODE)
    model = new_model(rank).fit(*data.rows(slice(n)))
    added, refitted = [], []
    for size in range(n, n + repeats * EPISODE, EPISODE):
        episode = data.rows(slice(size, size + EPISODE))
        everything = data.rows(slice(size + EPISODE))
        added.append(timed(lambda episode=episode: model.partial_fit(*episode))[0])
        refitted.append(timed(lambda data=everything: new_model(rank).fit(*data))[0])
    row = {
        "n": n,
        "rank": model.rank_,
        "added": Spread.of(added),
        "refitted": Spread.of(refitted),
        "refitted / added": ratios(refitted, added),
    }
    question = f"Adding {EPISODE} transitions to n by partial_fit, against a fit from nothing"
    return [Table(NAME, question, [row])]
