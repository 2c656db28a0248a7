"""An episode as an animated GIF: the environment's picture, and the policy beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import gymnasium
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from powr.agent import Agent
from powr.environment import actions_of, layers_of
from powr.episodes import Moment, rollout
from powr.files import check_destination, written_aside

# Pixels.
HEIGHT, MAX_PICTURE_WIDTH, PANEL_WIDTH, MARGIN = 240, 480, 200, 14
LARGEST_LETTERS = 15

# Few frames and colours keep a long episode well below a megabyte.
MAX_FRAMES, COLOURS = 160, 128
SHORTEST_FRAME_MS, LAST_FRAME_MS = 20, 2000

# By the class of the environment.
ACTION_NAMES = {
    "CartPoleEnv": ("left", "right"),
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "MountainCarEnv": ("left", "none", "right"),
    "TaxiEnv": ("south", "north", "east", "west", "pick up", "drop off"),
}


def render_episode(
    agent: Agent,
    path: str | Path,
    *,
    seed: int = 0,
    deterministic: bool = True,
    max_steps: int | None = None,
) -> Moment:
    """Play one episode and write it as an animated GIF, whole or not at all.

    Parameters
    ----------
    agent : POWR or OptimisticPOWR
    path : str or Path
        A name that ends in .gif.
    seed : int, default=0
        Seed of the episode.
    deterministic : bool, default=True
        Whether to take the most probable action instead of sampling.
    max_steps : int, default=None
        Largest number of steps; required if the environment has no time limit.

    Returns
    -------
    Moment
        The end of the episode, with `timestep` and `return_so_far`.
    """
    check_destination(path, ".gif")
    env = picture_env(agent.env)
    images: list[Image.Image] = []
    stride = 1  # a power of two
    try:
        for moment in rollout(
            agent, env, seed=seed, deterministic=deterministic, max_steps=max_steps
        ):
            if len(images) == MAX_FRAMES:
                images, stride = images[::2], 2 * stride
            if moment.timestep % stride == 0 or moment.action is None:
                images.append(draw_moment(agent, env, moment))
    except gymnasium.error.DependencyNotInstalled as error:
        raise ImportError("rendering needs pygame: pip install pygame") from error
    finally:
        env.close()
    write_gif(images, path, frame_ms=1000 * stride / env.metadata.get("render_fps", 30))
    return moment


def picture_env(env: gymnasium.Env) -> gymnasium.Env:
    """A second copy of the environment, which renders to arrays."""
    # Rendering to arrays needs neither a screen nor a sound card.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    if env.spec is None:
        raise ValueError(f"{env} cannot be rendered: it was not made by gymnasium.make")
    modes = env.metadata.get("render_modes", [])
    if "rgb_array" not in modes:
        raise ValueError(f"{env.spec.id} cannot be rendered: rgb_array is not among {modes}")
    return gymnasium.make(env.spec, render_mode="rgb_array")


def draw_moment(agent: Agent, env: gymnasium.Env, moment: Moment) -> Image.Image:
    """The environment's picture, and to its right timestep, return and the policy."""
    picture = Image.fromarray(np.asarray(env.render()))
    scale = min(HEIGHT / picture.height, MAX_PICTURE_WIDTH / picture.width)
    width, height = round(picture.width * scale), round(picture.height * scale)
    image = Image.new("RGB", (width + PANEL_WIDTH, HEIGHT), "white")
    picture = picture.resize((width, height), Image.Resampling.BILINEAR)
    image.paste(picture, (0, (HEIGHT - height) // 2))

    lines = [f"step {moment.timestep}", f"return {moment.return_so_far:g}", ""]
    if moment.action is None:
        lines[0] += ", end"
    else:
        chosen = moment.action - int(actions_of(env).start)
        probabilities = agent.action_probabilities([moment.observation])[0]
        for i, (name, probability) in enumerate(zip(action_names(env), probabilities, strict=True)):
            lines.append(f"{probability:4.0%}  {name}{'  <' if i == chosen else ''}")
    size = min(LARGEST_LETTERS, (HEIGHT - 2 * MARGIN) / len(lines) / 1.4)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(max(size, 1))
    place = (width + MARGIN, MARGIN)
    pen.multiline_text(place, "\n".join(lines), "black", font, spacing=0.4 * size)
    return image


def write_gif(images: Sequence[Image.Image], path: str | Path, frame_ms: float) -> None:
    """One palette for all frames and no dithering, so that unchanged areas compress well."""
    sample = images[:: -(-len(images) // 8)]
    palette = Image.fromarray(np.vstack([np.asarray(image) for image in sample])).quantize(COLOURS)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    durations = [max(round(frame_ms), SHORTEST_FRAME_MS)] * (len(frames) - 1) + [LAST_FRAME_MS]
    rest = {"append_images": frames[1:], "duration": durations, "loop": 0}
    with written_aside(path) as file:
        frames[0].save(file, format="GIF", save_all=True, **rest)


def kind_of(env: gymnasium.Env, space: str, wrapper: type[gymnasium.Wrapper]) -> str:
    """The class of one of gymnasium's environments; "" where wrappers may change this space."""
    kind = type(env.unwrapped)
    is_wrapped = any(isinstance(layer, wrapper) for layer in layers_of(env))
    is_changed = is_wrapped or getattr(env, space) != getattr(env.unwrapped, space)
    return "" if is_changed or not kind.__module__.startswith("gymnasium.envs.") else kind.__name__


def action_names(env: gymnasium.Env) -> Sequence[str]:
    """What the environment's documentation calls its actions where known, else their numbers."""
    start, n_actions = int(actions_of(env).start), int(actions_of(env).n)
    numbers = [str(start + i) for i in range(n_actions)]
    return ACTION_NAMES.get(kind_of(env, "action_space", gymnasium.ActionWrapper), numbers)
