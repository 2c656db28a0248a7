"""The command line: train, evaluate and draw agents; bad input or an interrupt writes no file."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import powr
from powr import POWR
from powr.environment import env_name, make
from powr.episodes import rollout, time_limit
from powr.files import check_destination
from powr.kernels import BUILT_IN, make_kernel
from powr.shell import BAD_INPUT, Parser, add_env_kwargs, count

INTERRUPTED = 130
STATISTICS: dict[str, Callable] = {"mean": np.mean, "std": np.std, "min": np.min, "max": np.max}
SETTINGS = ("gamma", "step_size", "seed")  # of POWR, with its defaults


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(arguments)
    try:
        options.command(options)
        return 0
    except BrokenPipeError:
        raise  # a closed pipe is not an error
    except KeyboardInterrupt:
        code, message = INTERRUPTED, "interrupted, nothing was written"
    except (ValueError, TypeError, OSError, ImportError, gymnasium.error.Error) as error:
        code, message = BAD_INPUT, f"error: {error}"
    for name in ("env", "max_steps"):  # arguments in the library, options here
        message = message.replace(f"give {name}", f"give --{name.replace('_', '-')}")
    print(f"python -m powr {options.name}: {' '.join(message.split())}", file=sys.stderr)
    return code


# -- options --------------------------------------------------------------------------------------


def make_parser() -> Parser:
    parser = Parser(prog="python -m powr", description="Train, evaluate and draw POWR agents.")
    parser.add_argument("--version", action="version", version=f"powr {powr.__version__}")
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")

    def add_command(command: Callable, summary: str) -> Any:
        name = command.__name__
        added = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        added.set_defaults(command=command)
        return added.add_argument

    def add_env(add: Any, about: str, **option: Any) -> None:
        add("--env", metavar="ID", help=about, **option)
        add_env_kwargs(add)

    def add_agent(add: Any) -> None:
        add("agent", type=Path, metavar="FILE", help="an agent saved by train")
        add_env(add, "default: the one of training")

    def add_seed(add: Any) -> None:
        seed = {"type": lambda text: count(text, least=0), "default": 0, "metavar": "N"}
        add("--seed", help="of all random draws (default: 0)", **seed)

    def add_max_steps(add: Any) -> None:
        add("--max-steps", type=count, metavar="N", help="end an episode after N steps")

    add = add_command(train, "train an agent and save it")
    add_env(add, "id of the environment", required=True)
    add("--timesteps", required=True, type=count, metavar="N", help="steps to take, as in 1e4")
    add("--save", required=True, type=Path, metavar="FILE", help="the .npz to write")
    add("--kernel", choices=tuple(BUILT_IN), help="default: Dirac, or Exponential in boxes")
    add("--bandwidth", nargs="+", type=float, metavar="X", help="one, or one per dimension")
    add("--step-size", type=float, default=0.1, metavar="X", help="of mirror descent (0.1)")
    add("--gamma", type=float, default=0.99, metavar="X", help="discount factor (0.99)")
    add_seed(add)

    add = add_command(evaluate, "play episodes with a saved agent")
    add_agent(add)
    add("--episodes", type=count, default=100, metavar="N", help="of each policy (default: 100)")
    add_seed(add)
    add_max_steps(add)

    add = add_command(render, "write an episode as a GIF")
    add_agent(add)
    add("--out", required=True, type=Path, metavar="FILE", help="the .gif to write")
    add("--sampled", action="store_true", help="sample actions, not the most probable ones")
    add_seed(add)
    add_max_steps(add)

    add = add_command(explain, "draw value, policy and visits of a saved agent")
    add_agent(add)
    add("--out", type=Path, metavar="FILE", help="the .png (default: the agent's name, here)")
    return parser


# -- commands -------------------------------------------------------------------------------------


def load_agent(options: argparse.Namespace) -> POWR:
    if options.env is None and options.env_kwargs:
        raise ValueError("--env-kwargs needs --env: add --env, or leave both out")
    env = options.env and make(options.env, **dict(options.env_kwargs))
    return POWR.load(options.agent, env)


def train(options: argparse.Namespace) -> None:
    check_destination(options.save)
    kernel, bandwidth = None, options.bandwidth
    if options.kernel is not None:
        is_one = bandwidth is not None and len(bandwidth) == 1
        kernel = make_kernel(options.kernel, bandwidth[0] if is_one else bandwidth)
    elif bandwidth is not None:
        raise ValueError("--bandwidth needs a kernel that has one: add --kernel Exponential")
    settings: Any = {name: getattr(options, name) for name in SETTINGS}
    env = make(options.env, **dict(options.env_kwargs))
    agent = POWR(env, kernel=kernel, **settings)
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
    name, limit = env_name(agent.env), time_limit(agent.env, options.max_steps)
    print(f"{options.agent}: POWR on {name}, {agent.num_timesteps:,} timesteps")
    print(f"{options.episodes} episodes".ljust(16) + "".join(f"{each:>10}" for each in STATISTICS))
    # Both policies start from the same states.
    seeds = np.random.default_rng(options.seed).integers(2**31, size=options.episodes).tolist()
    for policy in ("deterministic", "sampled"):
        settings: Any = {"deterministic": policy == "deterministic", "max_steps": limit}
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
    pictures.explain(agent, out)
    print(f"{out}: what POWR learned on {env_name(agent.env)}")
