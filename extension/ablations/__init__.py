"""Ablations: each undoes one choice of OptimisticPOWR. Their tables, figures and page.

study.yaml says what each ablation undoes; results/ablations/ablations.md shows the results.
"""
