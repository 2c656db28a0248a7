"""POWR and the algorithms that fit an environment, trained side by side on it."""
