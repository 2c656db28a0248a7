"""Variants of OptimisticPOWR for ablations that no setting reaches, all else the same.

Two plan otherwise than by mirror descent (the ablation `planners` of envs.yaml), one imagines one
visit per pair (`ice`).
"""
