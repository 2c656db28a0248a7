"""The command line: train an agent and save it, evaluate it, render an episode of it.

Bad input ends with exit code 2 and one line, an interrupt with 130; neither writes a file.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import re
import sys
import time
import traceback
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import gymnasium
import numpy as np

from powr import kernels
from powr.agent import POWR
from powr.files import check_destination
from powr.rollout import rollout, time_limit
from powr.solvers import METHODS

FAILURE, BAD_INPUT, INTERRUPTED = 1, 2, 130


class InputError(Exception):
    """What the caller gave cannot be used."""


class PlayError(Exception):
    """The environment, or what was made of its answers, failed on the way."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(arguments)
    try:
        options.command(options)
    except InputError as error:
        return report(options, f"error: {error}", BAD_INPUT)
    except (PlayError, OSError) as error:
        return report(options, f"error: {error}", FAILURE)
    except KeyboardInterrupt:
        return report(options, "interrupted, nothing was written", INTERRUPTED)
    return 0


def report(options: argparse.Namespace, message: str, code: int) -> int:
    print(f"python -m powr {options.name}: {' '.join(message.split())}", file=sys.stderr)
    return code


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

    print(f"training on {options.env} for {options.timesteps} timesteps", flush=True)
    started = time.monotonic()
    with playing(options.env):
        agent.learn(options.timesteps, progress_bar=can_show_progress())
    seconds = time.monotonic() - started
    agent.save(options.save)

    print(f"{len(agent.episode_returns)} episodes in {seconds:.1f} s")
    if agent.episode_returns:
        last = agent.episode_returns[-10:]
        print(f"mean return of the last {len(last)} episodes: {np.mean(last):.2f}")
    print(f"saved to {options.save}")


def evaluate(options: argparse.Namespace) -> None:
    with checking_input():
        agent = load_agent(options)
        time_limit(agent.env, options.max_steps)

    print(f"{options.agent}: {agent.env.spec.id}, trained for {agent.num_timesteps} timesteps")
    print(f"{options.episodes} episodes".ljust(16) + "".join(f"{k:>10}" for k in STATISTICS))
    for name, deterministic in (("deterministic", True), ("sampled", False)):
        with playing(agent.env.spec.id):
            returns = play(agent, options, deterministic)
        print(name.ljust(16) + "".join(f"{f(returns):10.2f}" for f in STATISTICS.values()))


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


STATISTICS = {"mean": np.mean, "std": np.std, "min": np.min, "max": np.max}


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
        raise InputError("--env-kwargs are those of --env: give both, or neither")
    env = options.env and make_env(options.env, options.env_kwargs)
    return POWR.load(options.agent, env)


def make_kernel(name: str | None, bandwidth: list[float] | None) -> kernels.Kernel | None:
    if name in (None, "Dirac"):
        if bandwidth is not None:
            raise InputError("--bandwidth is that of a kernel with one: add --kernel Exponential")
        return kernels.Dirac() if name else None
    if bandwidth is None:
        raise InputError(f"--kernel {name} needs --bandwidth: one number, or one per dimension")
    return kernels.BUILT_IN[name](bandwidth if len(bandwidth) > 1 else bandwidth[0])


def can_show_progress() -> bool:
    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None


# -- arguments ------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """Reports bad arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def make_parser() -> Parser:
    parser = Parser(prog="python -m powr", description=inspect.getdoc(sys.modules["powr"]))
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")

    training = add_command(commands, "train", train, "train an agent and save it")
    training.add_argument("--env", required=True, metavar="ID", help="id of the environment")
    add_env_kwargs(training)
    training.add_argument(
        "--timesteps", required=True, type=count, metavar="N", help="environment steps to take"
    )
    training.add_argument(
        "--save", required=True, type=Path, metavar="FILE", help="the .npz to write"
    )
    add_agent_settings(training.add_argument_group("settings of the agent"))

    evaluation = add_command(commands, "evaluate", evaluate, "play episodes with a saved agent")
    add_agent(evaluation)
    evaluation.add_argument(
        "--episodes", type=count, default=100, metavar="N", help="episodes of each policy"
    )

    rendering = add_command(commands, "render", render, "draw an episode of a saved agent")
    add_agent(rendering)
    rendering.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="the .gif to write"
    )
    rendering.add_argument(
        "--sampled", action="store_true", help="sample actions instead of taking the likeliest"
    )
    return parser


def add_command(
    commands: Any, name: str, command: Callable[[argparse.Namespace], None], summary: str
) -> Parser:
    parser = commands.add_parser(
        name, help=summary, description=summary, formatter_class=Formatter, allow_abbrev=False
    )
    parser.set_defaults(command=command)
    return parser


class Formatter(argparse.ArgumentDefaultsHelpFormatter):
    """Shows the defaults that are numbers or words."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        shown = isinstance(action.default, int | float | str) and action.nargs != 0
        return super()._get_help_string(action) if shown else action.help


def add_agent(parser: Parser) -> None:
    parser.add_argument("agent", type=Path, metavar="FILE", help="an agent saved by train")
    parser.add_argument(
        "--env", metavar="ID", help="play here instead of in the environment trained in"
    )
    add_env_kwargs(parser)
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of the episodes")
    parser.add_argument(
        "--max-steps", type=count, metavar="N", help="end episodes after so many steps"
    )


def add_env_kwargs(parser: Parser) -> None:
    parser.add_argument(
        "--env-kwargs",
        nargs="+",
        type=keyword,
        default=[],
        metavar="KEY=VALUE",
        help="for gymnasium.make, values in JSON: is_slippery=false map_name=8x8",
    )


def add_agent_settings(group: Any) -> None:
    """The keywords of `POWR` as options, with their defaults and their lines of its docstring."""
    descriptions = described_parameters(POWR.__doc__ or "")
    group.add_argument("--kernel", choices=tuple(kernels.BUILT_IN), help=descriptions.get("kernel"))
    group.add_argument(
        "--bandwidth", nargs="+", type=float, metavar="X", help="one, or one per dimension"
    )
    for name, default in agent_settings().items():
        group.add_argument(
            f"--{name.replace('_', '-')}",
            type=type(default),
            default=default,
            choices=METHODS if name == "method" else None,
            metavar={int: "N", float: "X"}.get(type(default)),
            help=descriptions.get(name),
        )


def agent_settings() -> dict[str, int | float | str]:
    """The numbers and words that `POWR` takes as keywords, and their defaults."""
    parameters = inspect.signature(POWR).parameters.values()
    return {p.name: p.default for p in parameters if isinstance(p.default, int | float | str)}


def described_parameters(docstring: str) -> dict[str, str]:
    """The text of each parameter in a docstring of numpy's layout, as help for argparse."""
    entries = re.findall(r"^    (\w[\w, ]*) : (.*(?:\n     +.*)*)", docstring, re.MULTILINE)
    return {
        name: " ".join(text.replace("%", "%%").split())
        for names, text in entries
        for name in names.split(", ")
    }


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def seed(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be a whole number of at least 0, got {text!r}")
    return int(text)


def keyword(text: str) -> tuple[str, Any]:
    """KEY=VALUE with a value in JSON; what is not JSON is a string."""
    key, equals, value = text.partition("=")
    if not (equals and key.isidentifier()):
        raise ArgumentTypeError(f"must be KEY=VALUE, got {text!r}")
    if value in ("True", "False", "None"):
        raise ArgumentTypeError(f"values are JSON: true, false or null, got {text!r}")
    try:
        return key, json.loads(value, parse_constant=refuse_constant)
    except ValueError:
        return key, value


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
