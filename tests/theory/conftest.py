"""Hypothesis draws the same few examples in every run."""

import hypothesis

hypothesis.settings.register_profile(
    "deterministic", derandomize=True, max_examples=20, deadline=None, database=None
)
hypothesis.settings.load_profile("deterministic")
