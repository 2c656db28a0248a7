"""The end of a training in words: what came out, what was chosen and why, what to type next."""

from __future__ import annotations

import json
import shlex
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from powr.layouts import layout_of
from powr.rollout import limit_of

if TYPE_CHECKING:
    from powr.agent import POWR

# Episodes that a mean is taken over.
WINDOW = 10

Keywords = Sequence[tuple[str, Any]]  # of gymnasium.make


def training_summary(
    agent: POWR, seconds: float, path: str | Path, env_id: str, env_kwargs: Keywords
) -> str:
    """One table, and the commands that can be typed next; id and keywords are those typed."""
    settings = agent.settings_
    results = [("result", "", ""), *results_of(agent, seconds)]
    choices = [("chosen", "", "")] + [
        (f"  {name}", shown(value), why) for name, (value, why) in settings.items()
    ]
    rows = results + (choices if settings else [])
    commands = next_commands(agent, path, environment_options(env_id, env_kwargs))
    return "\n".join(["", *as_table(rows), "", f"saved to {path}", "", "next:", *commands])


def results_of(agent: POWR, seconds: float) -> Iterator[tuple[str, str, str]]:
    returns = np.array(agent.episode_returns)
    if len(returns):
        last = returns[-WINDOW:]
        spread = f"from {last.min():g} to {last.max():g}"
        yield "  return", f"{last.mean():.2f}", f"mean of the last {len(last)} episodes, {spread}"
    else:
        yield "  return", "none", "no episode has ended yet"
    spec = agent.env.spec
    if spec is not None and spec.reward_threshold is not None:
        yield from arrivals_of(returns, ends_of_episodes(agent), spec.reward_threshold)
    yield "  timesteps", f"{agent.num_timesteps:,}", f"in {len(returns):,} finished episodes"
    yield "  plans", f"{agent.n_plans_:,}", "Algorithm 1 on all data so far, each"
    yield (
        "  time",
        f"{seconds:.1f} s",
        f"{1000 * seconds / agent.num_timesteps:.2f} ms per timestep",
    )


def ends_of_episodes(agent: POWR) -> NDArray:
    """The timestep at which each finished episode ended."""
    return np.cumsum([len(columns[1]) for columns in agent._collector.finished], dtype=int)


def arrivals_of(
    returns: NDArray, ends: NDArray, threshold: float
) -> Iterator[tuple[str, str, str]]:
    """When training episodes met the threshold that the environment is registered with."""
    means = np.convolve(returns, np.full(WINDOW, 1 / WINDOW), "valid") if len(returns) else returns
    # The mean of a window is known at the end of its last episode.
    for numbers, when, what in (
        (returns, ends, "the first training episode that did"),
        (means, ends[WINDOW - 1 :], f"the first {WINDOW} in a row whose mean did"),
    ):
        met = np.flatnonzero(numbers[: len(when)] >= threshold)
        name = f"  met {threshold:g}"
        yield (name, f"at {when[met[0]]:,}", what) if len(met) else (name, "not yet", what)


def environment_options(env_id: str, env_kwargs: Keywords) -> str:
    """What must be typed again: a saved agent does not know the module of its environment."""
    if ":" not in env_id:
        return ""
    keywords = [f"{key}={json.dumps(value)}" for key, value in env_kwargs]
    typed = ["--env", env_id, *(["--env-kwargs", *keywords] if keywords else [])]
    return f" {shlex.join(typed)}"


def next_commands(agent: POWR, path: str | Path, environment: str) -> Iterator[str]:
    """Those that can be followed: not every environment has pictures."""
    file, stem = shlex.quote(str(path)), Path(path).with_suffix("")
    endless = "" if limit_of(agent.env) else " --max-steps 200"
    yield f"  python -m powr evaluate {file}{environment}{endless}"
    if agent.n_plans_ and has_layout(agent.env):
        picture = shlex.quote(f"{stem}.png")
        yield f"  python -m powr explain {file}{environment} --out {picture}"
    if "rgb_array" in agent.env.metadata.get("render_modes", []):
        animation = shlex.quote(f"{stem}.gif")
        yield f"  python -m powr render {file}{environment}{endless} --out {animation}"


def has_layout(env: gymnasium.Env) -> bool:
    try:
        layout_of(env)
    except ValueError:
        return False
    return True


def shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value}"


def as_table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    """Columns side by side; the last one is wrapped to what the terminal has room for."""
    names, values = (max(len(row[i]) for row in rows) for i in (0, 1))
    width = max(min(shutil.get_terminal_size().columns, 100) - names - values - 4, 20)
    for name, value, note in rows:
        first, *others = wrapped(note, width)
        yield f"{name:<{names}}  {value:<{values}}  {first}".rstrip()
        yield from (f"{'':<{names + values + 4}}{other}" for other in others)


def wrapped(text: str, width: int) -> Iterable[str]:
    return textwrap.wrap(text, width) or [""]
