"""Agents as files: one `.npz` with all that is needed to go on learning, and nothing executable.

What was experienced is stored, not what follows from it: the world model is fitted again to the
same epochs in the same order, and an episode under way is played again from its seed. The policy's
coefficients are sums over all epochs and stored as they are. So an agent that is saved, loaded and
trained on equals one that was never interrupted, to the last bit.
"""

from __future__ import annotations

import inspect
import json
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, Space
from numpy.typing import NDArray

import powr
from powr import compact, kernels
from powr.agent import POWR, Episode
from powr.archive import Archive, write_archive
from powr.kernels import Kernel
from powr.spaces import check_kernel, make_env
from powr.validation import check_finite, check_transitions

FORMAT = 1
ARRAYS = (*compact.NAMES, "coefficients", "exponents_at_states", "episode_returns")
SETTINGS = tuple(
    name for name in inspect.signature(POWR).parameters if name not in ("env", "kernel")
)

# What metadata of the wrong shape raise where they are used.
_MALFORMED = (KeyError, TypeError, AttributeError, IndexError, OverflowError)


def save(agent: POWR, path: str | Path) -> None:
    """Write the agent to `path`, whole or not at all."""
    open_episodes = [] if agent._episode is None else [columns_of(agent._episode)]
    chunks = [*agent._history, *agent._collected, *open_episodes]
    arrays = {
        "metadata": np.array(json.dumps(describe(agent), allow_nan=False)),
        **compact.pack(chunks, agent.env.observation_space.shape),
        "coefficients": agent._coefficients,
        "exponents_at_states": agent._exponents_at_states,
        "episode_returns": np.array(agent.episode_returns, float),
    }
    write_archive(path, arrays)


def load(path: str | Path, env: gymnasium.Env | str | None = None) -> POWR:
    """Read an agent, in its environment made anew or in the one given."""
    archive = Archive(path)
    given = None if env is None else make_env(env)
    try:
        metadata = read_metadata(archive)
        env = make_recorded_env(metadata["environment"]) if given is None else given
        check_environment(metadata, env)
        agent = restore(metadata, archive.read(ARRAYS), env)
    except ValueError as error:
        raise ValueError(f"{path} cannot be loaded: {error}") from error
    except _MALFORMED as error:
        raise ValueError(
            f"{path} cannot be loaded: its metadata are not as save writes them ({error!r})"
        ) from error
    if agent._episode is not None and not plays_again(agent._episode, agent):
        warnings.warn(
            f"{path}: the environment did not repeat the episode that was under way, so the "
            f"{len(agent._episode.actions)} timesteps of that episode were taken back",
            stacklevel=3,
        )
        agent._take_back_episode()
    return agent


# -- what is stored -------------------------------------------------------------------------------


def describe(agent: POWR) -> dict[str, Any]:
    """All but the arrays, as JSON data."""
    episode = agent._episode
    return {
        "format": FORMAT,
        "version": powr.__version__,
        "environment": describe_env(agent.env),
        "spaces": describe_spaces(agent.env),
        "settings": {name: getattr(agent, name) for name in SETTINGS},
        "kernel": describe_kernel(agent.kernel),
        "kernel_in_use": describe_kernel(agent.kernel_),
        "num_timesteps": agent.num_timesteps,
        "epochs": len(agent._history),
        "collected_episodes": len(agent._collected),
        "open_episode": episode
        and {
            "seed": episode.seed,
            "first_timestep": episode.first_timestep,
            "random_state": episode.generator_state,
        },
        "random_states": {
            "training": agent._generator.bit_generator.state,
            "prediction": agent._prediction_generator.bit_generator.state,
        },
    }


def describe_env(env: gymnasium.Env) -> dict[str, Any]:
    """What gymnasium.make needs to make it anew; without "kwargs" where that is not enough."""
    if env.spec is None:
        return {"id": None}
    record = {"id": env.spec.id, "max_episode_steps": env.spec.max_episode_steps}
    kwargs = {key: value for key, value in env.spec.kwargs.items() if key != "render_mode"}
    registered = gymnasium.registry.get(env.spec.id)
    if registered and env.spec.additional_wrappers == registered.additional_wrappers:
        try:
            return {**record, "kwargs": json.loads(json.dumps(kwargs, allow_nan=False))}
        except (TypeError, ValueError):
            return record
    return record


def describe_spaces(env: gymnasium.Env) -> dict[str, Any]:
    return {
        "observation": describe_space(env.observation_space),
        "action": describe_space(env.action_space),
    }


def describe_space(space: Space) -> dict[str, Any]:
    if isinstance(space, Discrete):
        return {"type": "Discrete", "n": int(space.n), "start": int(space.start)}
    # Bounds as text, since JSON has no infinity.
    bounds = {"low": list(map(str, space.low)), "high": list(map(str, space.high))}
    return {"type": "Box", **bounds, "dtype": str(space.dtype)}


def describe_kernel(kernel: Kernel | None) -> dict[str, Any] | None:
    if kernel is None:
        return None
    bandwidth = getattr(kernel, "bandwidth", None)
    settings = {} if bandwidth is None else {"bandwidth": bandwidth.tolist()}
    return {"name": type(kernel).__name__, **settings}


def columns_of(episode: Episode) -> compact.Columns:
    observations = np.array(episode.observations)
    return (
        observations[:-1],
        np.array(episode.actions),
        np.array(episode.rewards),
        observations[1:],
        np.zeros(len(episode.actions), bool),
    )


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
        raise ValueError(f"it holds {', '.join(sorted(foreign))}, which no agent consists of")
    return metadata


def make_recorded_env(record: dict[str, Any]) -> gymnasium.Env:
    name = record["id"]
    if name is None or "kwargs" not in record:
        raise ValueError(
            f"its environment ({name or 'without an id'}) cannot be made from an id and JSON "
            "arguments alone: give env"
        )
    if ":" in name:
        raise ValueError(
            f"its environment {name!r} would import a module: give env if you trust it"
        )
    limit = record["max_episode_steps"]
    try:
        return gymnasium.make(
            name, max_episode_steps=-1 if limit is None else limit, **record["kwargs"]
        )
    except Exception as error:  # an environment may raise anything
        raise ValueError(
            f"its environment {name} cannot be made here ({error}): give env"
        ) from error


def check_environment(metadata: dict[str, Any], env: gymnasium.Env) -> None:
    trained, given = metadata["environment"]["id"], env.spec and env.spec.id
    if trained and given and trained != given:
        raise ValueError(f"it was trained on {trained}, not on {given}")
    for kind, space in describe_spaces(env).items():
        if metadata["spaces"][kind] != space:
            raise ValueError(
                f"it was trained with the {kind} space {metadata['spaces'][kind]}, "
                f"but the environment's is {space}"
            )


def restore(metadata: dict[str, Any], arrays: dict[str, NDArray], env: gymnasium.Env) -> POWR:
    agent = POWR(env, kernel=make_kernel(metadata["kernel"]), **metadata["settings"])
    agent.kernel_ = make_kernel(metadata["kernel_in_use"])
    if agent.kernel_ is not None:
        check_kernel(agent.kernel_, env.observation_space)
    shape = env.observation_space.shape
    chunks = [
        check_transitions(*columns, n_actions=agent.n_actions, shape=shape)
        for columns in compact.unpack(arrays, shape)
    ]
    n_fitted = metadata["epochs"]
    n_finished = n_fitted + metadata["collected_episodes"]
    if len(chunks) != n_finished + (metadata["open_episode"] is not None):
        raise ValueError(f"its metadata speak of {n_finished} chunks, not of {len(chunks)}")
    agent._history = chunks[:n_fitted]
    agent._collected = chunks[n_fitted:n_finished]
    if metadata["open_episode"] is not None:
        agent._episode = make_episode(metadata["open_episode"], chunks[-1])

    model = agent.model_
    shape = (0 if model is None else len(model.states_), agent.n_actions)
    names = ("coefficients", "exponents_at_states")
    policy = [check_table(arrays[name], name, shape) for name in names]
    agent._set_policy(model, *policy)
    agent.episode_returns = check_table(
        arrays["episode_returns"], "episode_returns", arrays["episode_returns"].shape[:1]
    ).tolist()
    agent.num_timesteps = int(metadata["num_timesteps"])
    agent._generator.bit_generator.state = metadata["random_states"]["training"]
    agent._prediction_generator.bit_generator.state = metadata["random_states"]["prediction"]
    return agent


def make_kernel(record: dict[str, Any] | None) -> Kernel | None:
    if record is None:
        return None
    settings = {**record}
    name = settings.pop("name")
    if name not in ("Dirac", "Gaussian", "Exponential"):
        raise ValueError(f"its kernel {name!r} is not Dirac, Gaussian or Exponential")
    return getattr(kernels, name)(**settings)


def make_episode(record: dict[str, Any], columns: compact.Columns) -> Episode:
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


def plays_again(episode: Episode, agent: POWR) -> bool:
    """Bring the environment to where the episode stood; False if it leads elsewhere."""
    env, start = agent.env, int(agent.env.action_space.start)
    observation, _ = env.reset(seed=episode.seed)
    reached, rewards = [observation], []
    for action in episode.actions:
        observation, reward, terminated, truncated, _ = env.step(start + action)
        reached.append(observation)
        rewards.append(float(reward))
        if terminated or truncated:
            return False
    return rewards == episode.rewards and np.array_equal(reached, episode.observations)
