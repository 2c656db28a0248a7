"""The four things to see of an agent."""

from typing import NamedTuple


class Quantity(NamedTuple):
    """One of the four things to see."""

    title: str
    colours: str
    meaning: str


QUANTITIES = {
    "value": Quantity("Value", "viridis", "expected discounted return"),
    "policy": Quantity("Policy", "", "the likeliest action"),
    "visits": Quantity("Visits", "Blues", "times that a state was seen, log scale"),
    "uncertainty": Quantity("Uncertainty", "Oranges", "0: known, 1: nothing is known"),
}
