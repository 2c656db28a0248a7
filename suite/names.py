"""Names as the paper prints them."""


def algorithm_name(key: str) -> str:
    """POWR for powr, DQN-tuned for dqn-tuned: what stands before the first hyphen is a name."""
    name, hyphen, variant = key.partition("-")
    return name.upper() + hyphen + variant
