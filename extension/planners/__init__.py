"""Variants of OptimisticPOWR for ablations that no setting covers; all else is the same.

Two replace mirror descent by another planner (the ablation `planners` of envs.yaml). One uses a
single imagined visit per pair (`ice`).
"""
