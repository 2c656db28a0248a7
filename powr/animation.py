"""An episode as an animated GIF: the environment's picture, and the policy beside it as bars."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import gymnasium
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from powr.agent import Agent
from powr.environment import actions_of, layers_of
from powr.episodes import Moment, rollout
from powr.files import check_destination, written_aside

# Pixels.
HEIGHT, MAX_PICTURE_WIDTH, PANEL_WIDTH = 240, 480, 200
MARGIN, HEADER_HEIGHT, ROW_HEIGHT = 14, 62, 26
LABEL_WIDTH, PERCENT_WIDTH, GAP_SHARE_OF_ROW = 56, 42, 0.2
LARGE, SMALL = 15, 13

WHITE, BLACK, GREY, TRACK = (255, 255, 255), (30, 30, 30), (125, 125, 125), (235, 235, 235)
CHOSEN, OTHER = (214, 96, 30), (84, 130, 176)

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
    """The environment's picture, and to its right timestep, return and a bar per action."""
    picture = Image.fromarray(np.asarray(env.render()))
    scale = min(HEIGHT / picture.height, MAX_PICTURE_WIDTH / picture.width)
    size = (round(picture.width * scale), round(picture.height * scale))
    image = Image.new("RGB", (size[0] + PANEL_WIDTH, HEIGHT), WHITE)
    image.paste(picture.resize(size, Image.Resampling.BILINEAR), (0, (HEIGHT - size[1]) // 2))
    pen = ImageDraw.Draw(image)
    pen.line((size[0], 0, size[0], HEIGHT), TRACK)
    left, right = size[0] + MARGIN, image.width - MARGIN
    end = ", end" if moment.action is None else ""
    header = f"step {moment.timestep}{end}\nreturn {moment.return_so_far:g}"
    pen.multiline_text((left, MARGIN), header, BLACK, font_of(LARGE), spacing=6)

    names, first_action = action_names(env), int(actions_of(env).start)
    height = min(ROW_HEIGHT, (HEIGHT - HEADER_HEIGHT - MARGIN) / len(names))
    font, gap = font_of(min(SMALL, height)), height * GAP_SHARE_OF_ROW
    start, stop = left + LABEL_WIDTH, right - PERCENT_WIDTH
    probabilities = agent.action_probabilities([moment.observation])[0]
    for i, (name, probability) in enumerate(zip(names, probabilities, strict=True)):
        top = HEADER_HEIGHT + i * height
        pen.text((left, top + height / 2), name, BLACK, font, anchor="lm")
        pen.rectangle((start, top + gap, stop, top + height - gap), TRACK)
        if moment.action is None:  # there is no action at the end
            continue
        pen.text((right, top + height / 2), f"{probability:.0%}", GREY, font, anchor="rm")
        width = round((stop - start) * probability)
        if width > 0:
            colour = CHOSEN if moment.action == first_action + i else OTHER
            pen.rectangle((start, top + gap, start + width, top + height - gap), colour)
    return image


@cache
def font_of(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def write_gif(images: Sequence[Image.Image], path: str | Path, frame_ms: float) -> None:
    """One palette for all frames and no dithering, so that unchanged areas compress well."""
    sample = images[:: -(-len(images) // 8)]
    sheet = Image.fromarray(np.vstack([np.asarray(image) for image in sample]))
    panel = [channel for colour in (WHITE, BLACK, GREY, TRACK, CHOSEN, OTHER) for channel in colour]
    palette = Image.new("P", (1, 1))
    palette.putpalette(panel + (sheet.quantize(COLOURS).getpalette() or []))
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
