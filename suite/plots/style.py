"""One look for every figure: sizes, fonts, and the look of each algorithm.

The colours stay apart with every common kind of colour blindness, without the shapes
(tests/plots/test_style.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from suite.config.models import KINDS

COLUMN_WIDTH = 5.5  # inches, the text width of a one-column paper
FAINT, SMALL = "0.35", 6.0  # of what explains, and is not data

STYLE = {
    "font.family": "DejaVu Sans",  # shipped with matplotlib, so that all machines draw it alike
    "font.size": 7,
    "figure.titlesize": 8.5,
    "figure.titleweight": "bold",
    "figure.labelsize": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
    "svg.hashsalt": "powr",
}


class Look(NamedTuple):
    colour: str
    dashes: tuple[float, ...]  # lengths of ink and gap in line widths; empty for a solid line
    marker: str
    width: float

    @property
    def line(self) -> dict[str, Any]:
        return {"color": self.colour, "dashes": self.dashes or (None, None), "lw": self.width}


KNOWN = {
    "powr": Look("#B2182B", (), "o", 1.8),
    "a2c": Look("#000000", (1, 1), "s", 1.2),
    "dqn": Look("#332288", (4, 1.5), "^", 1.2),
    "ppo": Look("#1E88E5", (7, 2), "D", 1.2),
    "trpo": Look("#E69F00", (5, 1.5, 1, 1.5), "v", 1.2),
}
# Policies are shown apart for POWR alone: in one colour, since it is one algorithm.
GREEDY = KNOWN["powr"]._replace(dashes=(2, 1), marker="d", width=0.8)
SPARE = (
    Look("#336666", (2, 2), "P", 1.0),
    Look("#BB77BB", (3, 1, 1, 1, 1, 1), "X", 1.0),
    Look("#6633DD", (8, 1, 2, 1), "<", 1.0),
    Look("#8A8A66", (1, 3), ">", 1.0),
)
# Of the kinds of algorithm in the ranking: the deep ones in blue, and orange.
OF_KIND = {
    kind: Look(look.colour, (), marker, 1.1)
    for kind, look, marker in zip(
        KINDS,
        (KNOWN["powr"], SPARE[1], SPARE[0], KNOWN["ppo"], KNOWN["dqn"], KNOWN["a2c"]),
        "oPs^Dv",
        strict=True,
    )
}


def looks(algorithms: Iterable[str]) -> dict[str, Look]:
    """The look of each algorithm; those that the paper does not have share the spare ones."""
    algorithms = list(algorithms)
    known = {**KNOWN, "powr-greedy": GREEDY}
    others = [name for name in algorithms if name not in known]
    spare = {name: SPARE[i % len(SPARE)] for i, name in enumerate(others)}
    return {name: known.get(name) or spare[name] for name in algorithms}
