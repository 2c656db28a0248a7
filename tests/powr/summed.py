"""Agents of the paper's alternation, whose plans are summed."""

from functools import partial

from powr import POWR

summed = partial(POWR, summed=True)
