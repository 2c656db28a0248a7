"""Pictures of what an agent learned, and rendered episodes: what they show, what is refused."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from gymnasium.wrappers import FlattenObservation, TransformObservation
from PIL import Image, ImageChops

from powr import POWR
from powr.animation import PANEL_WIDTH
from powr.pictures import draw, explain, render_episode
from powr.tabular import TabularMDP
from tests.powr.environments import Corridor

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lake():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    return POWR(env, seed=1000).learn(3000)


def titles(figure):
    return [panel.get_title(loc="left").partition(":")[0] for panel in figure.axes][:3]


def test_a_map_shows_true_values_counts_and_letters(lake):
    figure = draw(lake)
    assert "FrozenLake-v1" in figure.get_suptitle()
    assert titles(figure) == ["Value", "Policy", "Visits"]
    value, policy, visits = (
        {text.get_position(): text.get_text() for text in panel.texts} for panel in figure.axes
    )
    counts = np.bincount(lake.data.columns()[0], minlength=16)
    seen = [f"{count:,}" for count in counts if count]
    assert sorted(visits.values()) == sorted([*seen, *"SHHHHG"])
    values = TabularMDP.from_env(lake.env).values(lake.action_probabilities(range(16)), 0.99)
    for cell in (0, 4, 8, 9, 13, 14):
        row, column = divmod(cell, 4)
        assert float(value[column, row]) == pytest.approx(values[cell], abs=5e-3)
    assert policy[2, 3] == "→"  # the last step to the goal


def test_a_plane_shows_value_policy_and_visits():
    car = POWR("MountainCar-v0", seed=1000, step_size=1.0).learn(400)
    figure = draw(car)
    assert titles(figure) == ["Value", "Policy", "Visits"]
    value, policy, visits = figure.axes[:3]
    assert (value.get_xlabel(), value.get_ylabel()) == ("position", "velocity")
    low, high, bottom, top = value.images[0].get_extent()
    grid = np.meshgrid(np.linspace(low, high, 81), np.linspace(bottom, top, 81))
    lattice = np.column_stack([each.ravel() for each in grid])
    probabilities = car.action_probabilities(lattice)
    expected = (probabilities * car.action_values(lattice)).sum(axis=1)
    np.testing.assert_allclose(np.ravel(value.images[0].get_array()), expected)
    likeliest = np.ravel(policy.images[0].get_array())
    assert (likeliest == probabilities.argmax(axis=1)).all()
    assert [text.get_text() for text in policy.get_legend().texts] == ["left", "none", "right"]
    positions = np.histogram(car.data.columns()[0][:, 0], 40, (low, high))[0]
    assert (visits.images[0].get_array().filled(0).sum(axis=0) == positions).all()


# -- what cannot be drawn -------------------------------------------------------------------------


LAKE = gymnasium.make("FrozenLake-v1", is_slippery=False)
RENUMBERED = TransformObservation(LAKE, lambda state: 15 - state, Discrete(16))


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (gymnasium.make("Blackjack-v1"), "Blackjack-v1 cannot be drawn: there are maps of"),
        (RENUMBERED, "without wrappers that change"),
        (FlattenObservation(LAKE), "have 16 dimensions"),
    ],
)
def test_what_cannot_be_drawn_is_refused(env, message):
    with pytest.raises(ValueError, match=message):
        draw(POWR(env, seed=1000).learn(60))


def test_what_cannot_be_shown_or_written_is_refused(lake, tmp_path):
    with pytest.raises(ValueError, match="has not made a plan yet, after 0 timesteps"):
        draw(POWR("MountainCar-v0"))
    with pytest.raises(ValueError, match=r"must end in \.png"):
        explain(lake, tmp_path / "lake.gif")
    for env, message in (("CliffWalking-v1", "no time limit.*max_steps"), (Corridor(), "rendered")):
        with pytest.raises(ValueError, match=message):
            render_episode(POWR(env), tmp_path / "episode.gif")
    assert os.listdir(tmp_path) == []


# -- episodes --------------------------------------------------------------------------------------


def test_there_is_a_frame_per_moment_with_the_environments_picture(lake, tmp_path):
    end = render_episode(lake, tmp_path / "lake.gif", seed=3)
    with Image.open(tmp_path / "lake.gif") as gif:
        frames = [gif.seek(k) or gif.convert("RGB") for k in range(gif.n_frames)]
    assert end.return_so_far == 1.0
    assert len(frames) == end.timestep + 1

    env = gymnasium.make("FrozenLake-v1", is_slippery=False, render_mode="rgb_array")
    env.reset(seed=3)
    width = frames[0].width - PANEL_WIDTH
    expected = Image.fromarray(env.render()).resize((width, frames[0].height))
    difference = ImageChops.difference(frames[0].crop((0, 0, *expected.size)), expected)
    assert np.asarray(difference).mean() < 5  # but for the palette's rounding

    ink = [(np.asarray(frame)[:, -PANEL_WIDTH:] < 128).sum() for frame in frames]
    assert 0 < ink[-1] < min(ink[:-1])  # a line per action, and none at the end


def test_a_long_episode_is_thinned_and_small(tmp_path):
    end = render_episode(POWR("MountainCar-v0"), tmp_path / "car.gif", max_steps=199)
    with Image.open(tmp_path / "car.gif") as gif:
        assert (end.timestep, gif.n_frames) == (199, 101)  # every other one, and the last
        assert gif.info["duration"] == pytest.approx(1000 * 2 / 30, abs=10)
    assert (tmp_path / "car.gif").stat().st_size < 500_000


RENDER = "from powr.pictures import render_episode; render_episode(agent, 'agent.gif')"


@pytest.mark.parametrize(
    ("module", "program", "needs"),
    [
        ("matplotlib", "import powr.command, powr.pictures", "pip install matplotlib pillow"),
        ("pygame", RENDER, "rendering needs pygame: pip install pygame"),
    ],
)
def test_a_missing_package_is_named(module, program, needs, tmp_path):
    program = f"import sys; sys.modules[{module!r}] = None\nfrom powr import POWR\n{program}"
    program = program.replace("agent,", "POWR('CartPole-v1'),")
    how = {"capture_output": True, "text": True, "cwd": tmp_path}
    how["env"] = {**os.environ, "PYTHONPATH": str(ROOT)}
    finished = subprocess.run([sys.executable, "-c", program], check=False, **how)
    assert finished.stderr.splitlines()[-1].endswith(needs)
    assert os.listdir(tmp_path) == []
