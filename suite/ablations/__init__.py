"""Ablations, which undo one choice of POWR each: the table of what that does, and its page.

envs.yaml says what each ablation undoes; docs/ablations.md shows what came of it.
"""
