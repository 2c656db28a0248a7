"""Train agents, evaluate and draw them; neither bad input nor an interrupt writes a file."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from optimistic_powr import OptimisticPOWR

from powr import POWR
from powr.command.options import ALGORITHMS, HELP, make_parser
from powr.command.shell import BAD_INPUT
from powr.environments.agent import Agent
from powr.environments.episodes import env_name, limit_of, rollout, time_limit
from powr.files import check_destination
from powr.kernels import BUILT_IN, Dirac, Kernel
from powr.storage import algorithm_of

FAILURE, INTERRUPTED = 1, 130
STATISTICS: dict[str, Callable] = {"mean": np.mean, "std": np.std, "min": np.min, "max": np.max}


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(arguments)
    try:
        COMMANDS[options.name](options)
        return 0
    except BrokenPipeError:
        raise  # a closed pipe is not an error
    except KeyboardInterrupt:
        code, message = INTERRUPTED, "interrupted, nothing was written"
    except (ValueError, TypeError, OSError, ImportError, gymnasium.error.Error) as error:
        code, message = BAD_INPUT, f"error: {error}"
    except RuntimeError as error:  # of `playing`
        code, message = FAILURE, f"error: {error}"
    for name in ("env", "max_steps"):  # arguments in the library, options here
        message = message.replace(f"give {name}", f"give --{name.replace('_', '-')}")
    print(f"python -m powr {options.name}: {' '.join(message.split())}", file=sys.stderr)
    return code


@contextmanager
def playing(env_id: str) -> Iterator[None]:
    """Re-raise an environment's error as a RuntimeError that names its file and line."""
    try:
        yield
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        place = f"{Path(last.filename).name}, line {last.lineno}"
        raise RuntimeError(f"{env_id}: {type(error).__name__}: {error} ({place})") from error


def make_env(env_id: str, kwargs: Sequence[tuple[str, Any]]) -> gymnasium.Env:
    try:
        return gymnasium.make(env_id, **dict(kwargs))
    except Exception as error:  # an environment may raise anything
        raise ValueError(f"{env_id} cannot be made: {error}") from error


def make_agent(options: argparse.Namespace) -> Agent:
    settings = {name: getattr(options, name) for name in HELP if name in options}
    cls = ALGORITHMS[options.algorithm]
    for name in settings.keys() - inspect.signature(cls).parameters.keys():
        option = f"--{name.replace('_', '-')}"
        raise ValueError(f"{option} is not a setting of --algorithm {options.algorithm}")
    kernel = make_kernel(options.kernel, options.bandwidth)
    return cls(make_env(options.env, options.env_kwargs), kernel=kernel, **settings)


def make_kernel(name: str | None, bandwidth: list[float] | None) -> Kernel | None:
    if name in (None, "Dirac"):
        if bandwidth is not None:
            raise ValueError("--bandwidth needs a kernel that has one: add --kernel Exponential")
        return Dirac() if name else None
    if bandwidth is None:
        raise ValueError(f"--kernel {name} needs --bandwidth: one number, or one per dimension")
    return BUILT_IN[name](bandwidth if len(bandwidth) > 1 else bandwidth[0])


def load_agent(options: argparse.Namespace) -> Agent:
    if options.env is None and options.env_kwargs:
        raise ValueError("--env-kwargs needs --env: add --env, or leave both out")
    cls = POWR if algorithm_of(options.agent) == "POWR" else OptimisticPOWR
    return cls.load(options.agent, options.env and make_env(options.env, options.env_kwargs))


def train(options: argparse.Namespace) -> None:
    check_destination(options.save)
    agent = make_agent(options)
    what = f"{type(agent).__name__} on {options.env}"
    print(f"training {what} for {options.timesteps:,} timesteps", flush=True)
    show_progress = sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
    started = time.monotonic()
    with playing(options.env):
        agent.learn(options.timesteps, progress_bar=show_progress)
        agent.save(options.save)
    print(training_summary(agent, time.monotonic() - started, options))


def training_summary(agent: Any, seconds: float, options: argparse.Namespace) -> str:
    """A table, and the commands to type next."""
    last, n = agent.episode_returns[-10:], agent.num_timesteps
    rows = [("return", "none", "no episode has ended yet")]
    if last:
        what = f"mean of the last {len(last)} episodes, from {min(last):g} to {max(last):g}"
        rows = [("return", f"{np.mean(last):.2f}", what)]
    rows.append(("timesteps", f"{n:,}", f"in {len(agent.episode_returns):,} finished episodes"))
    rows.append(("plans", f"{agent.n_plans_:,}", "each from all data so far"))
    rows.append(("time", f"{seconds:.1f} s", f"{1000 * seconds / n:.2f} ms per timestep"))
    if n_overshoots := getattr(agent, "n_overshoots_", 0):
        note = f"plans whose values leave the possible range, by up to {agent.worst_overshoot_:.0%}"
        rows.append(("overshoots", f"{n_overshoots:,}", note))
    for name, (value, why) in getattr(agent, "settings_", {}).items():
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        rows.append((name, text, f"chosen: {why}"))

    names, values = (max(len(row[i]) for row in rows) for i in (0, 1))
    table = [f"  {name:{names}}  {value:{values}}  {note}" for name, value, note in rows]
    commands = [f"  python -m powr {command}" for command in next_commands(agent, options)]
    return "\n".join(["", *table, "", f"saved to {options.save}", "", "next:", *commands])


def next_commands(agent: Any, options: argparse.Namespace) -> Iterator[str]:
    """Commands that work for this agent: not every environment has pictures."""
    file, stem = shlex.quote(str(options.save)), str(options.save.with_suffix(""))
    if ":" in options.env:  # a saved agent does not import the module of its environment
        keywords = [f"{key}={json.dumps(value)}" for key, value in options.env_kwargs]
        file += f" --env {options.env}" + (f" --env-kwargs {shlex.join(keywords)}" * bool(keywords))
    limit = "" if limit_of(agent.env) else " --max-steps 200"
    yield f"evaluate {file}{limit}"
    try:
        from powr.pictures.layouts import layout_of

        if agent.n_plans_ and layout_of(agent.env):
            yield f"explain {file} --out {shlex.quote(f'{stem}.png')}"
    except (ImportError, ValueError):
        pass
    if "rgb_array" in agent.env.metadata.get("render_modes", []):
        yield f"render {file}{limit} --out {shlex.quote(f'{stem}.gif')}"


def evaluate(options: argparse.Namespace) -> None:
    agent = load_agent(options)
    name, limit = env_name(agent.env), time_limit(agent.env, options.max_steps)
    print(f"{options.agent}: {type(agent).__name__} on {name}, {agent.num_timesteps:,} timesteps")
    print(f"{options.episodes} episodes".ljust(16) + "".join(f"{each:>10}" for each in STATISTICS))
    # Both policies start from the same states.
    seeds = np.random.default_rng(options.seed).integers(2**31, size=options.episodes).tolist()
    for policy in ("deterministic", "sampled"):
        settings: Any = {"deterministic": policy == "deterministic", "max_steps": limit}
        with playing(name):
            ends = [list(rollout(agent, agent.env, seed=seed, **settings))[-1] for seed in seeds]
        returns = [end.return_so_far for end in ends]
        print(f"{policy:16}" + "".join(f"{each(returns):10.2f}" for each in STATISTICS.values()))


def render(options: argparse.Namespace) -> None:
    check_destination(options.out)
    from powr.pictures import render_episode

    episode: Any = {"deterministic": not options.sampled, "max_steps": options.max_steps}
    end = render_episode(load_agent(options), options.out, seed=options.seed, **episode)
    print(f"{options.out}: {end.timestep} timesteps, return {end.return_so_far:g}")


def explain(options: argparse.Namespace) -> None:
    from powr import pictures

    agent, out = load_agent(options), options.out or Path(f"{options.agent.stem}.png")
    pictures.explain(agent, out, show=options.show)
    print(f"{out}: what {type(agent).__name__} learned on {env_name(agent.env)}")


COMMANDS = {"train": train, "evaluate": evaluate, "render": render, "explain": explain}
