"""Names as the paper and the textbooks print them."""

NAMES = {
    "rmax": "R-max",
    "rmax-cautious": "R-max, cautious",
    "dyna-q": "Dyna-Q",
    "optimistic-q": "optimistic Q",
    "sarsa-lambda": "SARSA(\N{GREEK SMALL LETTER LAMDA})",
    "cme-value-iteration": "CME value iteration",
}


def algorithm_name(key: str) -> str:
    """POWR for powr, DQN-authors for dqn-authors: what stands before the first hyphen is a name."""
    name, hyphen, variant = key.partition("-")
    return NAMES.get(key, name.upper() + hyphen + variant)
