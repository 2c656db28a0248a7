"""An episode as an animated GIF: the environment's picture, and the policy beside it as bars."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from powr.files import check_destination, check_suffix, written_aside
from powr.layouts import keeps_actions
from powr.rollout import Moment, env_name, rollout
from powr.spaces import actions_of

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError as error:
    raise ImportError("rendering needs pillow: pip install 'powr[render]'") from error

if TYPE_CHECKING:
    from powr.agent import POWR

ACTION_NAMES = {
    "CartPole": ("left", "right"),
    "CliffWalking": ("up", "right", "down", "left"),
    "FrozenLake": ("left", "down", "right", "up"),
    "MountainCar": ("left", "none", "right"),
    "Taxi": ("south", "north", "east", "west", "pick up", "drop off"),
}

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
    """A moment of an episode: what the environment looks like and what the policy says."""

    moment: Moment
    picture: Image.Image
    probabilities: NDArray


def render_episode(
    agent: POWR,
    path: str | Path,
    *,
    seed: int = 0,
    deterministic: bool = True,
    max_steps: int | None = None,
) -> Moment:
    """Play one episode and write it to `path` as a GIF; returns the episode's last moment."""
    check_destination(path)
    check_suffix(path, {".gif": "an animation"})
    env = picture_env(agent.env)
    try:
        moments = rollout(agent, env, seed=seed, deterministic=deterministic, max_steps=max_steps)
        frames, stride = record(agent, env, moments)
    except gymnasium.error.DependencyNotInstalled as error:
        raise ImportError("rendering needs pygame: pip install 'powr[render]'") from error
    finally:
        env.close()
    first_action = int(actions_of(env).start)
    images = [draw(frame, action_names(env), first_action) for frame in frames]
    write_gif(images, path, frame_ms=1000 * stride / env.metadata.get("render_fps", 30))
    return frames[-1].moment


def picture_env(env: gymnasium.Env) -> gymnasium.Env:
    """The same environment, made anew so that it renders to arrays."""
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


def record(agent: POWR, env: gymnasium.Env, moments: Iterable[Moment]) -> tuple[list[Frame], int]:
    """Every k-th moment and the last one, and k, a power of two that keeps to MAX_FRAMES."""
    frames: list[Frame] = []
    stride = 1
    for moment in moments:
        if len(frames) == MAX_FRAMES:
            frames, stride = frames[::2], 2 * stride
        if moment.timestep % stride == 0 or moment.action is None:
            probabilities = agent.action_probabilities(moment.observation)[0]
            frames.append(Frame(moment, shrink(np.asarray(env.render())), probabilities))
    return frames, stride


def shrink(pixels: NDArray) -> Image.Image:
    picture = Image.fromarray(pixels)
    scale = min(HEIGHT / picture.height, MAX_PICTURE_WIDTH / picture.width)
    size = (round(picture.width * scale), round(picture.height * scale))
    return picture.resize(size, Image.Resampling.BILINEAR)


def action_names(env: gymnasium.Env) -> Sequence[str]:
    """What the environment's documentation calls its actions where known, else their numbers."""
    start, n_actions = int(actions_of(env).start), int(actions_of(env).n)
    names = ACTION_NAMES.get(env_name(env).partition("-v")[0], ()) if keeps_actions(env) else ()
    return names if len(names) == n_actions else [str(start + i) for i in range(n_actions)]


def draw(frame: Frame, names: Sequence[str], first_action: int) -> Image.Image:
    """The environment's picture, and to its right timestep, return and a bar per action."""
    moment, picture = frame.moment, frame.picture
    image = Image.new("RGB", (picture.width + PANEL_WIDTH, HEIGHT), WHITE)
    image.paste(picture, (0, (HEIGHT - picture.height) // 2))
    pen = ImageDraw.Draw(image)
    pen.line((picture.width, 0, picture.width, HEIGHT), TRACK)
    left, right = picture.width + MARGIN, image.width - MARGIN
    draw_header(pen, (left, MARGIN), moment)
    height = min(ROW_HEIGHT, (HEIGHT - HEADER_HEIGHT - MARGIN) / len(names))
    for i, (name, probability) in enumerate(zip(names, frame.probabilities, strict=True)):
        top = HEADER_HEIGHT + i * height
        colour = CHOSEN if moment.action == first_action + i else OTHER
        shown = None if moment.action is None else probability
        draw_row(pen, (left, top, right, top + height), name, shown, colour)
    return image


def draw_header(pen: ImageDraw.ImageDraw, corner: tuple[int, int], moment: Moment) -> None:
    step = f"step {moment.timestep}" + (", end" if moment.action is None else "")
    lines = f"{step}\nreturn {moment.return_so_far:g}"
    pen.multiline_text(corner, lines, BLACK, font_of(LARGE), spacing=6)


def draw_row(
    pen: ImageDraw.ImageDraw,
    box: tuple[float, float, float, float],
    name: str,
    probability: float | None,
    colour: tuple[int, int, int],
) -> None:
    """Name, bar and percentage of an action; the bar is empty where there is no probability."""
    left, top, right, bottom = box
    font, middle = font_of(min(SMALL, bottom - top)), (top + bottom) / 2
    pen.text((left, middle), name, BLACK, font, anchor="lm")
    start, end = left + LABEL_WIDTH, right - PERCENT_WIDTH
    gap = (bottom - top) * GAP_SHARE_OF_ROW
    pen.rectangle((start, top + gap, end, bottom - gap), TRACK)
    if probability is not None:
        pen.text((right, middle), f"{probability:.0%}", GREY, font, anchor="rm")
        width = round((end - start) * probability)
        if width > 0:
            pen.rectangle((start, top + gap, start + width, bottom - gap), colour)


@cache
def font_of(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def write_gif(images: Sequence[Image.Image], path: str | Path, frame_ms: float) -> None:
    """One palette for all frames and no dithering, so that what stands still costs nothing."""
    palette = common_palette(images)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    frame_ms = max(round(frame_ms), SHORTEST_FRAME_MS)
    with written_aside(path) as file:
        frames[0].save(
            file,
            format="GIF",
            save_all=True,
            append_images=frames[1:],
            duration=[frame_ms] * (len(frames) - 1) + [LAST_FRAME_MS],
            loop=0,
        )


def common_palette(images: Sequence[Image.Image]) -> Image.Image:
    """The panel's colours, and those of a few frames across the episode."""
    sample = images[:: -(-len(images) // 8)]
    width, height = sample[0].size
    sheet = Image.new("RGB", (width, height * len(sample)))
    for i, image in enumerate(sample):
        sheet.paste(image, (0, i * height))
    panel = [channel for colour in (WHITE, BLACK, GREY, TRACK, CHOSEN, OTHER) for channel in colour]
    palette = Image.new("P", (1, 1))
    palette.putpalette(panel + (sheet.quantize(COLOURS).getpalette() or []))
    return palette
