"""Slow, literal oracles: each formula of the paper as printed, the judge of the fast version."""
