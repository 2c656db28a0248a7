"""One run: an environment, an algorithm that learns on it, and its evaluations on the way."""
