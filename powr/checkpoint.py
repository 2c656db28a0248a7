"""Agents as files: one `.npz` with all that is needed to go on learning, and nothing executable.

What was experienced is stored, not what follows from it: the last plan is made again from the data
it was made of, and an episode under way is played again from its seed. Where plans are summed, the
policy's coefficients are sums over all epochs and stored as they are. So an agent that is saved,
loaded and trained on equals one that was never interrupted, to the last bit.
"""

from __future__ import annotations

import inspect
import json
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import powr
from powr import compact
from powr.agent import POWR
from powr.archive import Archive, write_archive
from powr.collecting import Episode
from powr.epochs import EpochPlanner
from powr.kernels import Kernel
from powr.mirror_descent import MIRROR_DESCENT
from powr.planners import FinitePlanner
from powr.planning import Plan, first_plan
from powr.policy import make_policy
from powr.records import (
    check_environment,
    describe_env,
    describe_kernel,
    describe_spaces,
    make_kernel,
    make_recorded_env,
)
from powr.settings import gamma_of, make_epoch_planner, rebuilt
from powr.spaces import make_env, observations_of
from powr.transitions import Columns
from powr.validation import check_finite, check_number, check_transitions

FORMAT = 2
ARRAYS = (*compact.NAMES, "coefficients", "exponents_at_states", "episode_returns")
SETTINGS = tuple(
    name for name in inspect.signature(POWR).parameters if name not in ("env", "kernel")
)

# What metadata of the wrong shape raise where they are used.
_MALFORMED = (KeyError, TypeError, AttributeError, IndexError, OverflowError)


def save(agent: POWR, path: str | Path) -> None:
    """Write the agent to `path`, whole or not at all."""
    if agent._planning != MIRROR_DESCENT:
        raise ValueError(
            f"a {type(agent).__name__} cannot be saved: its file would be read as that of a POWR"
        )
    collector = agent._collector
    open_episodes = [] if collector.episode is None else [collector.episode.columns()]
    chunks = [*collector.finished, *open_episodes]
    plan = plan_of(agent)
    arrays = {
        "metadata": np.array(json.dumps(describe(agent), allow_nan=False)),
        **compact.pack(chunks, collector.observations.shape),
        "coefficients": plan.coefficients,
        "exponents_at_states": plan.exponents,
        "episode_returns": np.array(collector.episode_returns, float),
    }
    write_archive(path, arrays)


def load(
    path: str | Path, env: gymnasium.Env | str | None = None, kernel: Kernel | None = None
) -> POWR:
    """Read an agent, in its environment made anew or in the one given."""
    archive = Archive(path)
    given = None if env is None else make_env(env)
    try:
        metadata = read_metadata(archive)
        env = make_recorded_env(metadata["environment"]) if given is None else given
        check_environment(metadata, env)
        agent = restore(metadata, archive.read(ARRAYS), env, kernel)
    except ValueError as error:
        raise ValueError(f"{path} cannot be loaded: {error}") from error
    except _MALFORMED as error:
        raise ValueError(
            f"{path} cannot be loaded: its metadata are not as save writes them ({error!r})"
        ) from error
    episode = agent._collector.episode
    if episode is not None and not agent._collector.plays_again():
        warnings.warn(
            f"{path}: the environment did not repeat the episode that was under way, so the "
            f"{len(episode.actions)} timesteps of that episode were taken back",
            stacklevel=3,
        )
        agent._collector.take_back()
        agent._forget_what_was_taken_back()
    agent._collector.leave()
    return agent


# -- what is stored -------------------------------------------------------------------------------


def describe(agent: POWR) -> dict[str, Any]:
    """All but the arrays, as JSON data."""
    collector, episode = agent._collector, agent._collector.episode
    shape = collector.observations.shape
    return {
        "format": FORMAT,
        "version": powr.__version__,
        "environment": describe_env(agent.env),
        "spaces": describe_spaces(agent.env),
        "settings": {name: getattr(agent, name) for name in SETTINGS},
        "kernel": describe_kernel(agent.kernel, shape),
        "kernel_in_use": describe_kernel(kernel_in_use(agent), shape),
        "plan_regularization": plan_of(agent).regularization,
        "num_timesteps": collector.num_timesteps,
        "planned_at": agent._planner.planned_at,
        "plans": agent.n_plans_,
        "plan_is_due": agent._plan_is_due,
        "before_episode": list(agent._before_episode),
        "epochs": agent._planner.epochs if isinstance(agent._planner, EpochPlanner) else [],
        "open_episode": episode
        and {
            "seed": episode.seed,
            "first_timestep": episode.first_timestep,
            "random_state": episode.generator_state,
        },
        "random_states": {
            "training": collector.generator.bit_generator.state,
            "prediction": agent._prediction_generator.bit_generator.state,
        },
    }


# -- what is read ---------------------------------------------------------------------------------


def read_metadata(archive: Archive) -> dict[str, Any]:
    text = archive.read(["metadata"])["metadata"]
    if text.dtype.kind != "U" or text.shape != ():
        raise ValueError(f"its metadata are not text but {text.dtype} of shape {text.shape}")
    metadata = json.loads(str(text))
    if metadata["format"] != FORMAT:
        raise ValueError(
            f"it has format {metadata['format']!r}, written by powr {metadata.get('version')}, but "
            f"powr {powr.__version__} reads format {FORMAT}: load it with the version that wrote it"
        )
    foreign = archive.names() - {"metadata", *ARRAYS}
    if foreign:
        raise ValueError(f"it holds {', '.join(sorted(foreign))}, which no saved agent has")
    return metadata


def restore(
    metadata: dict[str, Any],
    arrays: dict[str, NDArray],
    env: gymnasium.Env,
    given: Kernel | None,
) -> POWR:
    shape = observations_of(env.observation_space).shape
    kernel = make_kernel(metadata["kernel"], given, shape)
    if kernel is None and given is not None:
        raise ValueError(
            f"it was trained with the kernel that POWR chooses, not with {given!r}: leave out "
            "kernel"
        )
    agent = POWR(env, kernel=kernel, **metadata["settings"])
    keep_gamma(agent, metadata["environment"])
    chunks = [
        check_transitions(*columns, n_actions=agent.n_actions, shape=shape)
        for columns in compact.unpack(arrays, shape)
    ]
    collector, is_open = agent._collector, metadata["open_episode"] is not None
    collector.finished = chunks[: len(chunks) - is_open]
    if is_open:
        collector.episode = make_episode(metadata["open_episode"], chunks[-1])
    n_transitions = sum(len(columns[1]) for columns in chunks)
    planned_at, num_timesteps = int(metadata["planned_at"]), int(metadata["num_timesteps"])
    planned_before, plans_before = map(int, metadata["before_episode"])
    in_order = 0 <= planned_before <= planned_at <= n_transitions
    if num_timesteps != n_transitions or not in_order:
        raise ValueError(
            f"its metadata speak of {num_timesteps} timesteps, planned at {planned_before} and "
            f"{planned_at}, not of {n_transitions}"
        )
    if agent.summed:
        in_use = make_kernel(metadata["kernel_in_use"], given, shape)
        agent._current = restore_epochs(agent, metadata, arrays, in_use)
    else:
        agent._current, _ = rebuilt(agent, planned_at)
    agent._before_episode = (planned_before, plans_before)
    agent.n_plans_, agent._plan_is_due = int(metadata["plans"]), bool(metadata["plan_is_due"])
    collector.episode_returns = check_table(
        arrays["episode_returns"], "episode_returns", arrays["episode_returns"].shape[:1]
    ).tolist()
    collector.num_timesteps = num_timesteps
    collector.generator.bit_generator.state = metadata["random_states"]["training"]
    agent._prediction_generator.bit_generator.state = metadata["random_states"]["prediction"]
    return agent


def keep_gamma(agent: POWR, environment: dict[str, Any]) -> None:
    """Keep the discount that was chosen in training, as if it had been given.

    The environment given to `load` may have another time limit, from which another discount, and
    so another policy, would be chosen.
    """
    if agent.gamma is None and isinstance(agent._planner, FinitePlanner):
        gamma = gamma_of(environment.get("max_episode_steps"))
        if agent._planner.gamma != gamma:
            agent.gamma = gamma


def restore_epochs(
    agent: POWR, metadata: dict[str, Any], arrays: dict[str, NDArray], kernel: Kernel | None
) -> EpochPlanner:
    """The planner of an agent whose plans are summed: its epochs, and the sum as it was."""
    planner = make_epoch_planner(agent)
    planner.kernel_ = kernel
    for transition, ended in agent._collector.transitions():
        planner.observe(transition, ended)
    epochs = metadata["epochs"]
    if not all(isinstance(length, int) and length > 0 for length in epochs):
        raise ValueError(f"its epochs {epochs} are not numbers of episodes")
    if sum(epochs) > len(agent._collector.finished):
        raise ValueError(f"its epochs have {sum(epochs)} episodes, more than there are")
    planner.take_in_epochs(epochs)
    model = planner.model
    shape = (0 if model is None else len(model.states_), agent.n_actions)
    names = ("coefficients", "exponents_at_states")
    coefficients, exponents = (check_table(arrays[name], name, shape) for name in names)
    if model is not None:
        policy = make_policy(model.function(coefficients))
        regularization = check_number(metadata["plan_regularization"], "plan_regularization")
        planner.current = Plan(policy, coefficients, exponents, regularization)
    return planner


def plan_of(agent: POWR) -> Plan:
    """The plan that is stored as it is: none where plans start afresh."""
    planner = agent._planner
    return planner.current if isinstance(planner, EpochPlanner) else first_plan(agent.n_actions)


def kernel_in_use(agent: POWR) -> Kernel | None:
    planner = agent._planner
    return planner.kernel_ if isinstance(planner, EpochPlanner) else None


def make_episode(record: dict[str, Any], columns: Columns) -> Episode:
    states, actions, rewards, next_states, _ = columns
    path = np.concatenate([states, next_states[-1:]])
    return Episode(
        seed=int(record["seed"]),
        first_timestep=int(record["first_timestep"]),
        generator_state=record["random_state"],
        observations=path.tolist() if path.ndim == 1 else list(path),
        actions=actions.tolist(),
        rewards=rewards.tolist(),
    )


def check_table(table: NDArray, name: str, shape: tuple[int, ...]) -> NDArray:
    if table.dtype != float or table.shape != shape:
        raise ValueError(
            f"its {name} are {table.dtype} of shape {table.shape}, not float64 of shape {shape}"
        )
    check_finite(table, f"its {name}")
    return table
