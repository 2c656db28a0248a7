"""Rendered episodes: what is drawn, how many frames there are, how small the file is."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from PIL import Image, ImageChops

from powr import POWR, render
from powr.render import CHOSEN, OTHER, PANEL_WIDTH, render_episode
from powr.rollout import Moment
from tests.powr.environments import Corridor

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lake_agent():
    return POWR(gymnasium.make("FrozenLake-v1", is_slippery=False), seed=0).learn(600)


def frames_of(path):
    with Image.open(path) as gif:
        for number in range(gif.n_frames):
            gif.seek(number)
            yield gif.convert("RGB")


def panel_has(image, colour):
    panel = np.asarray(image)[:, -PANEL_WIDTH:]
    return (panel == colour).all(axis=2).any()


def test_there_is_a_frame_a_moment_and_the_picture_is_the_environments(lake_agent, tmp_path):
    end = render_episode(lake_agent, tmp_path / "lake.gif", seed=3)
    frames = list(frames_of(tmp_path / "lake.gif"))
    assert end.return_so_far == 1.0
    assert len(frames) == end.timestep + 1

    env = gymnasium.make("FrozenLake-v1", is_slippery=False, render_mode="rgb_array")
    env.reset(seed=3)
    expected = render.shrink(env.render())
    shown = frames[0].crop((0, 0, *expected.size))
    difference = np.asarray(ImageChops.difference(shown, expected))
    assert difference.mean() < 5  # but for the palette's rounding
    assert frames[0].width == expected.width + PANEL_WIDTH


def test_bars_are_drawn_until_the_episode_ends(lake_agent, tmp_path):
    render_episode(lake_agent, tmp_path / "lake.gif")
    *frames, last = frames_of(tmp_path / "lake.gif")
    assert all(panel_has(frame, CHOSEN) for frame in frames)
    assert not panel_has(last, CHOSEN)
    assert not panel_has(last, OTHER)


def bar_lengths(probabilities, action, names=("a", "b", "c"), first_action=0):
    """Pixels along the longest line of each colour in a drawn panel."""
    moment = Moment(timestep=7, observation=0, action=action, return_so_far=-7.0)
    picture = Image.new("RGB", (100, 100))
    frame = render.Frame(moment, picture, np.array(probabilities))
    pixels = np.asarray(render.draw(frame, names, first_action))
    return [int((pixels == colour).all(axis=2).sum(axis=1).max()) for colour in (CHOSEN, OTHER)]


def test_bars_are_as_long_as_the_actions_are_likely():
    full, none = bar_lengths([1.0, 0.0, 0.0], action=0)
    chosen, other = bar_lengths([0.25, 0.5, 0.25], action=0)
    assert none == 0
    assert chosen == pytest.approx(full / 4, abs=2)
    assert other == pytest.approx(full / 2, abs=2)


def test_the_chosen_action_is_found_where_actions_do_not_start_at_zero():
    assert bar_lengths([0.0, 1.0, 0.0], action=6, first_action=5)[1] == 0


def test_eighteen_actions_find_room():
    names = [str(action) for action in range(18)]
    chosen, other = bar_lengths(np.full(18, 1 / 18), action=17, names=names)
    assert chosen > 0
    assert other > 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("FrozenLake-v1", ("left", "down", "right", "up")),
        ("Taxi-v3", ("south", "north", "east", "west", "pick up", "drop off")),
        ("MountainCar-v0", ("left", "none", "right")),
        ("CartPole-v1", ("left", "right")),
        ("Acrobot-v1", ["0", "1", "2"]),
    ],
)
def test_actions_are_named_where_their_names_are_known(name, expected):
    assert render.action_names(gymnasium.make(name)) == expected


def test_a_long_episode_is_thinned_and_small(tmp_path):
    agent = POWR("MountainCar-v0")  # untrained, it takes all of its 200 steps
    path = tmp_path / "car.gif"
    end = render_episode(agent, path)
    with Image.open(path) as gif:
        assert end.timestep == 200
        assert gif.n_frames <= render.MAX_FRAMES
        assert gif.info["loop"] == 0
        assert gif.info["duration"] == pytest.approx(1000 * 2 / 30, abs=10)
    assert path.stat().st_size < 500_000


def test_thinning_keeps_the_first_and_the_last_moment():
    moments = [Moment(t, 0, 0, 0.0) for t in range(333)] + [Moment(333, 0, None, 0.0)]
    env = gymnasium.make("FrozenLake-v1", render_mode="rgb_array")
    env.reset()
    frames, stride = render.record(POWR("FrozenLake-v1"), env, moments)
    timesteps = [frame.moment.timestep for frame in frames]
    assert timesteps == [*range(0, 333, stride), 333]
    assert render.MAX_FRAMES / 2 <= len(frames) <= render.MAX_FRAMES


def test_the_same_episode_gives_the_same_bytes(lake_agent, tmp_path):
    for name in ("one.gif", "two.gif"):
        render_episode(lake_agent, tmp_path / name, seed=5)
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()


def test_an_episode_without_time_limit_needs_one(tmp_path):
    agent = POWR(gymnasium.make("CliffWalking-v1"))
    with pytest.raises(ValueError, match=r"CliffWalking-v1 has no time limit.*max_steps"):
        render_episode(agent, tmp_path / "cliff.gif")
    assert render_episode(agent, tmp_path / "cliff.gif", max_steps=5).timestep == 5


def test_an_environment_that_cannot_be_made_anew_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot be rendered: .*gymnasium\.make"):
        render_episode(POWR(Corridor()), tmp_path / "corridor.gif")


def test_an_environment_without_pictures_is_named(tmp_path):
    gymnasium.register("PicturelessCorridor-v0", Corridor, max_episode_steps=10)
    try:
        agent = POWR("PicturelessCorridor-v0")
        with pytest.raises(ValueError, match="cannot be rendered: rgb_array is not among"):
            render_episode(agent, tmp_path / "corridor.gif")
    finally:
        gymnasium.registry.pop("PicturelessCorridor-v0")


@pytest.mark.parametrize(("module", "package"), [("PIL", "pillow"), ("pygame", "pygame")])
def test_a_missing_package_is_named_with_the_extra_that_installs_it(module, package, tmp_path):
    program = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from powr import POWR\n"
        "from powr.render import render_episode\n"
        "render_episode(POWR('CartPole-v1'), 'agent.gif')"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert finished.returncode == 1
    last_line = finished.stderr.strip().splitlines()[-1]
    assert last_line == f"ImportError: rendering needs {package}: pip install 'powr[render]'"
    assert list(tmp_path.iterdir()) == []
