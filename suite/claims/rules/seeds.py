"""How many seeds a verdict needs."""

from suite.claims.verdicts import Data, Parameters
from suite.names import algorithm_name

# With fewer seeds on a side, no data could bring the exact p-value down to 0.05.
FEWEST_SEEDS = 3
FEWEST_SEEDS_FOR_SPREAD = 4


def lacking_seeds(data: Data, parameters: Parameters, fewest: int) -> str:
    """Whose seeds are fewest, where they are fewer than a verdict needs; empty if they are not."""
    seeds = {pair: len(data.runs(*pair)) for pair in parameters.needed()}
    environment, algorithm = pair = min(seeds, key=lambda pair: seeds[pair])
    if seeds[pair] >= fewest:
        return ""
    there = "1 seed" if seeds[pair] == 1 else f"{seeds[pair]} seeds"
    return f"{there} of {algorithm_name(algorithm)} on {environment}, {fewest} are needed"
