"""Names as the paper and the textbooks print them."""

from collections.abc import Mapping

NAMES = {
    "rmax": "R-max",
    "rmax-cautious": "R-max, cautious",
    "dyna-q": "Dyna-Q",
    "optimistic-q": "optimistic Q",
    "sarsa-lambda": "SARSA(\N{GREEK SMALL LETTER LAMDA})",
    "cme-value-iteration": "CME value iteration",
    "random-play": "random play",
    "dqn-zoo-control": "DQN, zoo",
}


def register(names: Mapping[str, str]) -> None:
    """Let the names that a study gives its algorithms be printed."""
    NAMES.update(names)


def algorithm_name(key: str) -> str:
    """POWR for powr; DQN, zoo for dqn-zoo: what stands before the first hyphen is a name."""
    name, _, variant = key.partition("-")
    return NAMES.get(key) or name.upper() + (f", {variant}" if variant else "")
