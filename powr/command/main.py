"""The command line: train an agent and save it, evaluate it, show what it does and thinks.

Bad input ends with exit code 2 and one line, an interrupt with 130; neither writes a file.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from powr.options import BAD_INPUT, agent_settings, make_parser
from powr.rollout import env_name, rollout, time_limit
from powr.summary import training_summary

from powr import kernels
from powr.agent import POWR
from powr.files import check_destination

FAILURE, INTERRUPTED = 1, 130


class InputError(Exception):
    """What the caller gave cannot be used."""


class PlayError(Exception):
    """The environment, or what was made of its answers, failed on the way."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(arguments)
    try:
        COMMANDS[options.name](options)
    except InputError as error:
        return report(options, f"error: {error}", BAD_INPUT)
    except BrokenPipeError:
        raise  # nobody reads on, which is no error
    except (PlayError, OSError) as error:
        return report(options, f"error: {error}", FAILURE)
    except KeyboardInterrupt:
        return report(options, "interrupted, nothing was written", INTERRUPTED)
    return 0


def report(options: argparse.Namespace, message: str, code: int) -> int:
    line = in_flags(" ".join(message.split()), options)
    print(f"python -m powr {options.name}: {line}", file=sys.stderr)
    return code


def in_flags(message: str, options: argparse.Namespace) -> str:
    """The library asks for its arguments by "give NAME"; a command, where it has the flag, by it.

    >>> in_flags("give summed=True, or give kernel", argparse.Namespace(summed=False))
    'give --summed, or give kernel'
    """

    def flag(match: re.Match[str]) -> str:
        return f"give --{match[1].replace('_', '-')}" if match[1] in options else match[0]

    return re.sub(r"\bgive (\w+)(?:=True)?", flag, message)


@contextmanager
def checking_input() -> Iterator[None]:
    """Where a wrong id, keyword, setting or file is found out, in gymnasium or in this package."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError, gymnasium.error.Error) as error:
        raise InputError(error) from error


@contextmanager
def playing(env_id: str) -> Iterator[None]:
    """Where environments are played: what they raise, with its place."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        place = f"{Path(last.filename).name}, line {last.lineno}"
        raise PlayError(f"{env_id}: {type(error).__name__}: {error} ({place})") from error


def make_env(env_id: str, kwargs: Sequence[tuple[str, Any]]) -> gymnasium.Env:
    try:
        return gymnasium.make(env_id, **dict(kwargs))
    except Exception as error:  # an environment may raise anything
        raise InputError(f"{env_id} cannot be made: {error}") from error


# -- commands -------------------------------------------------------------------------------------


def train(options: argparse.Namespace) -> None:
    with checking_input():
        check_destination(options.save)
        env = make_env(options.env, options.env_kwargs)
        settings = {name: getattr(options, name) for name in agent_settings()}
        agent = POWR(env, kernel=make_kernel(options.kernel, options.bandwidth), **settings)

    print(f"training on {options.env} for {options.timesteps:,} timesteps", flush=True)
    started = time.monotonic()
    with playing(options.env):
        agent.learn(options.timesteps, progress_bar=can_show_progress())
    seconds = time.monotonic() - started
    agent.save(options.save)
    print(training_summary(agent, seconds, options.save, options.env, options.env_kwargs))


def evaluate(options: argparse.Namespace) -> None:
    with checking_input():
        agent = load_agent(options)
        time_limit(agent.env, options.max_steps)

    name = env_name(agent.env)
    print(f"{options.agent}: {name}, trained for {agent.num_timesteps} timesteps")
    print(f"{options.episodes} episodes".ljust(16) + "".join(f"{k:>10}" for k in STATISTICS))
    for policy, deterministic in (("deterministic", True), ("sampled", False)):
        with playing(name):
            returns = play(agent, options, deterministic)
        print(policy.ljust(16) + "".join(f"{f(returns):10.2f}" for f in STATISTICS.values()))


def render(options: argparse.Namespace) -> None:
    with checking_input():
        check_destination(options.out)
        from powr.render import render_episode

        end = render_episode(
            load_agent(options),
            options.out,
            seed=options.seed,
            deterministic=not options.sampled,
            max_steps=options.max_steps,
        )
    print(f"{options.out}: {end.timestep} timesteps, return {end.return_so_far:g}")


def explain(options: argparse.Namespace) -> None:
    out = options.out or Path(f"{options.agent.stem}.png")
    with checking_input():
        check_destination(out)
        from powr import plots

        plots.explain(load_agent(options), out, show=options.show)
    print(f"{out}: what the agent thinks")


COMMANDS = {"train": train, "evaluate": evaluate, "render": render, "explain": explain}

STATISTICS: dict[str, Callable[[list[float]], Any]] = {
    "mean": np.mean,
    "std": np.std,
    "min": np.min,
    "max": np.max,
}


def play(agent: POWR, options: argparse.Namespace, deterministic: bool) -> list[float]:
    """Returns of episodes; both policies start from the same states."""
    returns = []
    for seed in np.random.default_rng(options.seed).integers(2**31, size=options.episodes):
        *_, end = rollout(
            agent,
            agent.env,
            seed=int(seed),
            deterministic=deterministic,
            max_steps=options.max_steps,
        )
        returns.append(end.return_so_far)
    return returns


def load_agent(options: argparse.Namespace) -> POWR:
    if options.env is None and options.env_kwargs:
        raise InputError("--env-kwargs needs --env: add --env, or leave both out")
    env = options.env and make_env(options.env, options.env_kwargs)
    return POWR.load(options.agent, env)


def make_kernel(name: str | None, bandwidth: list[float] | None) -> kernels.Kernel | None:
    if name in (None, "Dirac"):
        if bandwidth is not None:
            raise InputError("--bandwidth needs a kernel that has one: add --kernel Exponential")
        return kernels.Dirac() if name else None
    if bandwidth is None:
        raise InputError(f"--kernel {name} needs --bandwidth: one number, or one per dimension")
    return kernels.BUILT_IN[name](bandwidth if len(bandwidth) > 1 else bandwidth[0])


def can_show_progress() -> bool:
    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
