"""All that makes up an agent, its planner and random states included, as comparable values."""

from __future__ import annotations

import gymnasium
import numpy as np

from powr.collecting import Collector
from powr.epochs import EpochPlanner
from powr.functions import Table
from powr.planners import FinitePlanner
from powr.policy import Policy
from powr.solvers.low_rank import FeatureTable
from powr.transitions import GrowingArray
from powr.world_model import WorldModel


def snapshot(agent, *, without: tuple[str, ...] = ()) -> dict:
    values = {**vars(agent), "_current": agent._planner}
    if agent._collector.episode is None:
        del values["_before_episode"]  # of an episode that there is no more
    return {name: bits(value) for name, value in values.items() if name not in without}


def bits(value):
    """Equal for two values exactly if they agree to the last bit."""
    if isinstance(value, gymnasium.Env):
        return None
    if isinstance(value, WorldModel) and hasattr(value, "_data"):
        value._ready_solver()  # a solver may wait until it is needed
    if isinstance(value, Collector):
        # The last transition is the planner's already, and the episode's.
        value = {k: v for k, v in vars(value).items() if k not in ("_left", "last_transition")}
    if isinstance(value, EpochPlanner):
        value = {**vars(value), "_model": value.model}  # which may wait until it is needed
        del value["_warned"]
    if isinstance(value, FinitePlanner):
        value = {"shown": value.shown, **vars(value)}  # which takes in what waits
    if isinstance(value, Table):
        return bits((value.index.states[: len(value.values)], value.values, value.offset))
    if isinstance(value, Policy):
        return bits(value.exponents)
    if isinstance(value, GrowingArray | FeatureTable):
        return bits(value.view)  # what lies beyond the view is reserve
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if isinstance(value, list | tuple):
        return [bits(item) for item in value]
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    if hasattr(value, "__dict__"):
        return type(value).__name__, {key: bits(item) for key, item in vars(value).items()}
    return value
