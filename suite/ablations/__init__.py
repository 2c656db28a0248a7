"""Ablations, which vary POWR's settings: tables of what the variations do, and their page.

envs.yaml says what each ablation varies; docs/ablations.md shows the figures and what they say.
"""
