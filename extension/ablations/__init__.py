"""Ablations: each undoes one choice of OptimisticPOWR. Their tables, and their page.

envs.yaml says what each ablation undoes; docs/ablations.md shows the results.
"""
