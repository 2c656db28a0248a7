"""OptimisticPOWR with another planner in the place of mirror descent, and all else the same.

The ablation `planners` of envs.yaml asks with them what mirror descent adds.
"""
