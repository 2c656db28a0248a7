"""An episode as an animated GIF: the environment's picture, and the policy beside it as bars."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from powr.agent import Agent
from powr.environment import actions_of
from powr.episodes import Moment, rollout
from powr.files import check_destination, written_aside
from powr.pictures.names import action_names

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


class Frame(NamedTuple):
    """A moment of an episode with its picture and the action probabilities."""

    moment: Moment
    picture: Image.Image
    probabilities: NDArray


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
    try:
        moments = rollout(agent, env, seed=seed, deterministic=deterministic, max_steps=max_steps)
        frames, stride = record(agent, env, moments)
    except gymnasium.error.DependencyNotInstalled as error:
        raise ImportError("rendering needs pygame: pip install pygame") from error
    finally:
        env.close()
    names, first_action = action_names(env), int(actions_of(env).start)
    images = [draw_frame(frame, names, first_action) for frame in frames]
    write_gif(images, path, frame_ms=1000 * stride / env.metadata.get("render_fps", 30))
    return frames[-1].moment


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


def record(agent: Agent, env: gymnasium.Env, moments: Iterable[Moment]) -> tuple[list[Frame], int]:
    """Every k-th moment and the last one, and k, a power of two that keeps to MAX_FRAMES."""
    frames: list[Frame] = []
    stride = 1
    for moment in moments:
        if len(frames) == MAX_FRAMES:
            frames, stride = frames[::2], 2 * stride
        if moment.timestep % stride == 0 or moment.action is None:
            picture = Image.fromarray(np.asarray(env.render()))
            scale = min(HEIGHT / picture.height, MAX_PICTURE_WIDTH / picture.width)
            size = (round(picture.width * scale), round(picture.height * scale))
            picture = picture.resize(size, Image.Resampling.BILINEAR)
            probabilities = agent.action_probabilities([moment.observation])[0]
            frames.append(Frame(moment, picture, probabilities))
    return frames, stride


def draw_frame(frame: Frame, names: Sequence[str], first_action: int) -> Image.Image:
    """The environment's picture, and to its right timestep, return and a bar per action."""
    moment, picture = frame.moment, frame.picture
    image = Image.new("RGB", (picture.width + PANEL_WIDTH, HEIGHT), WHITE)
    image.paste(picture, (0, (HEIGHT - picture.height) // 2))
    pen = ImageDraw.Draw(image)
    pen.line((picture.width, 0, picture.width, HEIGHT), TRACK)
    left, right = picture.width + MARGIN, image.width - MARGIN
    end = ", end" if moment.action is None else ""
    header = f"step {moment.timestep}{end}\nreturn {moment.return_so_far:g}"
    pen.multiline_text((left, MARGIN), header, BLACK, font_of(LARGE), spacing=6)

    height = min(ROW_HEIGHT, (HEIGHT - HEADER_HEIGHT - MARGIN) / len(names))
    font, gap = font_of(min(SMALL, height)), height * GAP_SHARE_OF_ROW
    start, stop = left + LABEL_WIDTH, right - PERCENT_WIDTH
    for i, (name, probability) in enumerate(zip(names, frame.probabilities, strict=True)):
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
