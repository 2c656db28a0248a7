"""The command line: train, evaluate and draw agents; bad input or an interrupt writes no file."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import gymnasium
import numpy as np

import powr
from powr import POWR
from powr.environment import env_name, make
from powr.episodes import rollout
from powr.files import check_destination

BAD_INPUT, INTERRUPTED = 2, 130
STATISTICS: dict[str, Callable] = {"mean": np.mean, "std": np.std, "min": np.min, "max": np.max}


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(arguments)
    try:
        options.command(options)
        return 0
    except KeyboardInterrupt:
        code, message = INTERRUPTED, "interrupted, nothing was written"
    except (ValueError, TypeError, OSError, ImportError, gymnasium.error.Error) as error:
        code, message = BAD_INPUT, f"error: {error}"
    for name in ("env", "max_steps"):  # arguments in the library, options here
        message = message.replace(f"give {name}", f"give --{name.replace('_', '-')}")
    print(f"python -m powr {options.name}: {' '.join(message.split())}", file=sys.stderr)
    return code


# -- options --------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """Reports bad arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def make_parser() -> Parser:
    parser = Parser(prog="python -m powr", description="Train, evaluate and draw POWR agents.")
    parser.add_argument("--version", action="version", version=f"powr {powr.__version__}")
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")

    def add_command(command: Callable, summary: str) -> Callable:
        name = command.__name__
        added = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        added.set_defaults(command=command)
        if command is not train:
            added.add_argument("agent", type=Path, metavar="FILE", help="an agent saved by train")
        about = "id of the environment" if command is train else "default: the one of training"
        added.add_argument("--env", metavar="ID", help=about, required=command is train)
        about = "for gymnasium.make, values in JSON: is_slippery=false map_name=8x8"
        values: Any = {"nargs": "+", "type": keyword, "default": [], "metavar": "KEY=VALUE"}
        added.add_argument("--env-kwargs", help=about, **values)
        if command is not explain:
            about = "of all random draws (default: 0)"
            added.add_argument("--seed", type=int, default=0, metavar="N", help=about)
        if command in (evaluate, render):
            about = "end an episode after N steps"
            added.add_argument("--max-steps", type=count, metavar="N", help=about)
        return added.add_argument

    add = add_command(train, "train an agent and save it")
    add("--timesteps", required=True, type=count, metavar="N", help="steps to take, as in 1e4")
    add("--save", required=True, type=Path, metavar="FILE", help="the .npz to write")
    add("--step-size", type=float, default=0.1, metavar="X", help="of mirror descent (0.1)")

    add = add_command(evaluate, "play episodes with a saved agent")
    add("--episodes", type=count, default=100, metavar="N", help="of each policy (default: 100)")

    add = add_command(render, "write an episode as a GIF")
    add("--out", required=True, type=Path, metavar="FILE", help="the .gif to write")
    add("--sampled", action="store_true", help="sample actions, not the most probable ones")

    add = add_command(explain, "draw value, policy and visits of a saved agent")
    add("--out", type=Path, metavar="FILE", help="the .png (default: the agent's name, here)")
    return parser


def count(text: str) -> int:
    """A whole number from 1 on; 1e4 is one, too."""
    number = float(text)
    if not number.is_integer() or number < 1:
        raise ValueError
    return int(number)


def keyword(text: str) -> tuple[str, Any]:
    """KEY=VALUE with a value in JSON; what is not JSON is a string."""
    key, equals, value = text.partition("=")
    if not (equals and key.isidentifier()) or value in ("True", "False", "None"):
        raise argparse.ArgumentTypeError(f"must be KEY=VALUE with a value in JSON, got {text!r}")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


# -- commands -------------------------------------------------------------------------------------


def load_agent(options: argparse.Namespace) -> POWR:
    if options.env is None and options.env_kwargs:
        raise ValueError("--env-kwargs needs --env: add --env, or leave both out")
    env = options.env and make(options.env, **dict(options.env_kwargs))
    return POWR.load(options.agent, env)


def train(options: argparse.Namespace) -> None:
    check_destination(options.save)
    env = make(options.env, **dict(options.env_kwargs))
    agent = POWR(env, step_size=options.step_size, seed=options.seed)
    agent._interface.id = options.env  # with its module
    print(f"training POWR on {options.env} for {options.timesteps:,} timesteps", flush=True)
    show_progress = sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
    started = time.monotonic()
    agent.learn(options.timesteps, progress_bar=show_progress)
    agent.save(options.save)
    last = agent.episode_returns[-10:]
    returns = f"mean return of the last {len(last)} {np.mean(last):.2f}" if last else "no return"
    seconds = time.monotonic() - started
    print(f"{len(agent.episode_returns):,} episodes, {returns}, {agent.n_plans_:,} epochs")
    print(f"saved to {options.save} after {seconds:.1f} s")


def evaluate(options: argparse.Namespace) -> None:
    agent = load_agent(options)
    # Both policies start from the same states.
    seeds = np.random.default_rng(options.seed).integers(2**31, size=options.episodes).tolist()
    rows = []
    for policy in ("deterministic", "sampled"):
        how: Any = {"deterministic": policy == "deterministic", "max_steps": options.max_steps}
        ends = [list(rollout(agent, agent.env, seed=seed, **how))[-1] for seed in seeds]
        returns = [end.return_so_far for end in ends]
        numbers = [f"{statistic(returns):10.2f}" for statistic in STATISTICS.values()]
        rows.append(f"{policy:16}" + "".join(numbers))
    print(f"{options.agent}: POWR on {env_name(agent.env)}, {agent.num_timesteps:,} timesteps")
    print(f"{options.episodes} episodes".ljust(16) + "".join(f"{name:>10}" for name in STATISTICS))
    print(*rows, sep="\n")


def render(options: argparse.Namespace) -> None:
    check_destination(options.out, ".gif")
    from powr.pictures import render_episode

    episode: Any = {"deterministic": not options.sampled, "max_steps": options.max_steps}
    end = render_episode(load_agent(options), options.out, seed=options.seed, **episode)
    print(f"{options.out}: {end.timestep} timesteps, return {end.return_so_far:g}")


def explain(options: argparse.Namespace) -> None:
    from powr import pictures

    agent, out = load_agent(options), options.out or Path(f"{options.agent.stem}.png")
    pictures.explain(agent, out)
    print(f"{out}: what POWR learned on {env_name(agent.env)}")
