"""The paper's theorems computed where both sides are known: tables for the figure `theory`.

docs/theory.md leads from each numbered result to the function and the test that check it.
"""
