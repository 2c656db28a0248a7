"""One look for every figure: sizes, fonts, and the look of each algorithm.

An algorithm differs from the others in colour, line and marker. The colours differ in lightness
too, so that they survive grey print and the common kinds of colour blindness.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

COLUMN_WIDTH = 5.5  # inches, the text width of a one-column paper

STYLE = {
    "font.family": "DejaVu Sans",  # shipped with matplotlib, so that all machines draw it alike
    "font.size": 7,
    "axes.titlesize": 8,
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
    "xtick.minor.width": 0.4,
    "xtick.minor.size": 1.5,
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
    "powr": Look("#B2182B", (), "o", 1.5),
    "a2c": Look("#000000", (1, 1), "s", 1.0),
    "dqn": Look("#332288", (4, 1.5), "^", 1.0),
    "ppo": Look("#1E88E5", (7, 2), "D", 1.0),
    "trpo": Look("#E69F00", (5, 1.5, 1, 1.5), "v", 1.0),
}
# Policies are shown apart for POWR alone: in one colour, since it is one algorithm.
SAMPLED = KNOWN["powr"]._replace(dashes=(2, 1), marker="d")
SPARE = (
    Look("#44AA99", (2, 2), "P", 1.0),
    Look("#CC79A7", (3, 1, 1, 1, 1, 1), "X", 1.0),
    Look("#117733", (8, 1, 2, 1), "<", 1.0),
    Look("#6B7A00", (1, 3), ">", 1.0),
)


def looks(algorithms: Iterable[str]) -> dict[str, Look]:
    """The look of each algorithm; those that the paper does not have share the spare ones.

    Under the authors' settings an algorithm looks as under its own, where that is not there too.
    """
    algorithms = list(algorithms)
    known = {"powr-sampled": SAMPLED}
    for name in algorithms:
        own = name.removesuffix("-authors").removesuffix("-deterministic")
        if name in KNOWN or (own in KNOWN and own not in algorithms):
            known[name] = KNOWN[own]
    others = [name for name in algorithms if name not in known]
    spare = {name: SPARE[i % len(SPARE)] for i, name in enumerate(others)}
    return {name: known.get(name) or spare[name] for name in algorithms}
