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
from powr.pictures import draw, explain, render_episode
from powr.animation import CHOSEN, PANEL_WIDTH
from powr.tabular import TabularMDP
from tests.powr.environments import Corridor

ROOT = Path(__file__).parents[2]
OPEN = [cell for cell in range(16) if cell not in (5, 7, 11, 12, 15)]


@pytest.fixture(scope="module")
def lake():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    return POWR(env, seed=1000).learn(3000)


@pytest.fixture(scope="module")
def car():
    return POWR("MountainCar-v0", seed=1000, step_size=1.0).learn(400)


def titles(figure):
    return [panel.get_title(loc="left").partition(":")[0] for panel in figure.axes]


def texts(panel):
    return [text.get_text() for text in panel.texts]


# -- maps -----------------------------------------------------------------------------------------


def test_a_map_shows_true_values_counts_and_letters(lake):
    """The values are those of the policy."""
    figure = draw(lake)
    assert "FrozenLake-v1" in figure.get_suptitle()
    assert titles(figure) == ["Value", "Policy", "Visits"]
    value, _, visits = figure.axes
    counts = np.bincount(lake.data.columns()[0], minlength=16)
    assert sorted(texts(visits)) == sorted(
        [f"{counts[cell]:,}" for cell in OPEN if counts[cell]] + list("SHHHHG")
    )
    policy = lake.action_probabilities(range(16))
    values = TabularMDP.from_env(lake.env).values(policy, 0.99)
    shown = {text.get_position(): text.get_text() for text in value.texts}
    for cell in (0, 4, 8, 9, 13, 14):
        row, column = divmod(cell, 4)
        assert float(shown[column + 0.5, row + 0.52]) == pytest.approx(values[cell], abs=5e-3)


# -- planes ---------------------------------------------------------------------------------------


def test_a_plane_shows_value_policy_and_visits(car):
    figure = draw(car)
    assert titles(figure)[:3] == ["Value", "Policy", "Visits"]
    value, policy, visits = figure.axes[:3]
    assert (value.get_xlabel(), value.get_ylabel()) == ("position", "velocity")

    low, high, bottom, top = value.images[0].get_extent()
    grid = np.meshgrid(np.linspace(low, high, 81), np.linspace(bottom, top, 81))
    lattice = np.column_stack([each.ravel() for each in grid])
    probabilities = car.action_probabilities(lattice)
    expected = (probabilities * car.action_values(lattice)).sum(axis=1)
    assert np.ravel(value.images[0].get_array()).tolist() == pytest.approx(expected.tolist())
    likeliest = np.ravel(policy.images[0].get_array())
    assert (likeliest == probabilities.argmax(axis=1)).all()
    assert [text.get_text() for text in policy.get_legend().texts] == ["left", "none", "right"]
    positions = np.histogram(car.data.columns()[0][:, 0], 40, (low, high))[0]
    assert (visits.images[0].get_array().filled(0).sum(axis=0) == positions).all()


def test_taxi_has_a_map_per_place_of_passenger_and_destination():
    figure = draw(POWR("Taxi-v3", seed=1000).learn(300))
    assert len({panel.get_title(loc="left") for panel in figure.axes[:16]}) == 16


# -- what cannot be drawn -------------------------------------------------------------------------


LAKE = gymnasium.make("FrozenLake-v1", is_slippery=False)
UNDRAWABLE = {
    "cards": (gymnasium.make("Blackjack-v1"), "Blackjack-v1 cannot be drawn: there are maps of"),
    "renumbered": (
        TransformObservation(LAKE, lambda state: 15 - state, Discrete(16)),
        "without wrappers that change observations or actions",
    ),
    "flattened": (FlattenObservation(LAKE), "have 16 dimensions"),
}


@pytest.mark.parametrize(("env", "message"), UNDRAWABLE.values(), ids=UNDRAWABLE)
def test_what_cannot_be_drawn_is_refused(env, message):
    with pytest.raises(ValueError, match=message):
        draw(POWR(env, seed=1000).learn(60))


def test_what_cannot_be_shown_or_written_is_refused(lake, tmp_path):
    with pytest.raises(ValueError, match="has not made a plan yet, after 0 timesteps"):
        draw(POWR("MountainCar-v0"))
    with pytest.raises(ValueError, match=r"must end in \.png"):
        explain(lake, tmp_path / "lake.gif")
    with pytest.raises(ValueError, match=r"CliffWalking-v1 has no time limit.*max_steps"):
        render_episode(POWR("CliffWalking-v1"), tmp_path / "cliff.gif")
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

    panels = [np.asarray(frame)[:, -PANEL_WIDTH:] for frame in frames]
    has_bar = [(panel == CHOSEN).all(axis=2).any() for panel in panels]
    assert has_bar == [True] * end.timestep + [False]


def test_a_long_episode_is_thinned_and_small(tmp_path):
    end = render_episode(POWR("MountainCar-v0"), tmp_path / "car.gif", max_steps=199)
    with Image.open(tmp_path / "car.gif") as gif:
        assert end.timestep == 199
        assert gif.n_frames == 101  # every other one, and the last
        assert gif.info["loop"] == 0
        assert gif.info["duration"] == pytest.approx(1000 * 2 / 30, abs=10)
    assert (tmp_path / "car.gif").stat().st_size < 500_000


def test_an_environment_that_has_no_pictures_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot be rendered: .*gymnasium\.make"):
        render_episode(POWR(Corridor()), tmp_path / "corridor.gif")
    assert os.listdir(tmp_path) == []


# -- without the optional packages ----------------------------------------------------------------


def run_without(module, program, folder):
    """The end of a program in whose process a package is missing."""
    command = [sys.executable, "-c", f"import sys; sys.modules[{module!r}] = None\n{program}"]
    how = {"capture_output": True, "text": True, "cwd": folder}
    how["env"] = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, check=False, **how)


def test_a_missing_package_is_named_with_the_extra_that_installs_it(tmp_path):
    train = "from powr import POWR; agent = POWR('CartPole-v1').learn(20)\n"
    finished = run_without("matplotlib", f"{train}import powr.command, powr.pictures", tmp_path)
    needs = "ImportError: pictures need matplotlib and pillow: pip install matplotlib pillow"
    assert finished.stderr.splitlines()[-1] == needs
    render = "from powr.pictures import render_episode; render_episode(agent, 'agent.gif')"
    finished = run_without("pygame", train + render, tmp_path)
    needs = "ImportError: rendering needs pygame: pip install pygame"
    assert finished.stderr.splitlines()[-1] == needs
    assert os.listdir(tmp_path) == []
