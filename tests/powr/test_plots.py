"""Pictures of what an agent thinks: that they show what it believes, and what cannot be drawn."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import (
    FlattenObservation,
    FrameStackObservation,
    TransformAction,
    TransformObservation,
)
from PIL import Image

from powr import POWR, plots
from powr.beliefs import beliefs_of, history_of_beliefs
from powr.layouts import DOWN, RIGHT, GridMap, Plane, layout_of
from powr.plots.planes import PlaneSampler
from powr.tabular import TabularMDP
from tests.powr.environments import Corridor

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lake():
    return POWR(gymnasium.make("FrozenLake-v1", is_slippery=False), seed=1000).learn(1000)


@pytest.fixture(scope="module")
def car():
    return POWR("MountainCar-v0", seed=1000).learn(400)


@pytest.fixture(scope="module")
def transitions(lake):
    return [transition for transition, _ in lake._collector.transitions()]


# -- beliefs --------------------------------------------------------------------------------------


def test_values_are_the_exact_ones_where_all_is_known(lake):
    """Along the shortest paths the empirical MDP is the true one."""
    beliefs = beliefs_of(lake)
    mdp = TabularMDP.from_env(lake.env)
    optimal = mdp.optimal_action_values(0.999).max(axis=1)
    path = [0, 4, 8, 9, 13, 14]
    assert beliefs.values(path) == pytest.approx(optimal[path], abs=1e-4)
    assert beliefs.action_values(path).max(axis=1) == pytest.approx(optimal[path], abs=1e-4)


def test_probabilities_are_those_of_the_agent(lake, car):
    states = np.arange(16)
    assert beliefs_of(lake).probabilities(states) == pytest.approx(
        lake.action_probabilities(states)
    )
    points = np.array([[-0.5, 0.0], [0.3, 0.02]])
    beliefs = beliefs_of(car)
    assert beliefs.probabilities(points) == pytest.approx(car.action_probabilities(points))
    assert beliefs.action_values(points) == pytest.approx(car.model_.action_values(points))


def test_action_values_are_not_summed_over_the_steps_of_a_plan():
    agent = POWR("MountainCar-v0", seed=1000, step_size=0.3, mirror_steps=5).learn(60)
    points = np.array([[-0.5, 0.0], [0.3, 0.02]])
    assert beliefs_of(agent).action_values(points) == pytest.approx(
        agent.model_.action_values(points)
    )


def test_visits_are_counts_and_uncertainty_follows_from_them(lake, transitions):
    visits = np.zeros((16, 4))
    for state, action, *_ in transitions:
        visits[state, action] += 1
    beliefs, states = beliefs_of(lake), np.arange(16)
    assert (beliefs.visits(states) == visits.sum(axis=1)).all()
    assert beliefs.visits(states).sum() == 1000
    assert beliefs.uncertainty(states) == pytest.approx((1 / (1 + visits)).mean(axis=1))


def test_uncertainty_in_a_box_is_small_where_it_was_and_grows_away_from_there(car):
    beliefs = beliefs_of(car)
    visited = beliefs.columns[0]
    planned = visited[: car._planner.planned_at]
    assert beliefs.uncertainty(planned).max() < 0.1
    near, far = visited.mean(axis=0), visited.max(axis=0) + 5 * np.ptp(visited, axis=0)
    assert beliefs.uncertainty([near]) < beliefs.uncertainty([far]) <= 1.0


def test_the_last_moment_of_the_history_is_what_the_agent_believes(lake):
    moments = list(history_of_beliefs(lake, 5))
    timesteps = [beliefs.timestep for beliefs in moments]
    assert timesteps == sorted(set(timesteps))
    assert timesteps[-1] == 1000
    states = np.arange(16)
    assert moments[-1].values(states) == pytest.approx(beliefs_of(lake).values(states))
    assert (moments[0].visits(states) <= moments[-1].visits(states)).all()


def test_a_moment_of_the_history_is_what_a_shorter_training_believes():
    short, long = (POWR("CliffWalking-v1", seed=1000).learn(n) for n in (20, 100))
    first = next(history_of_beliefs(long, 3))
    states = np.arange(48)
    assert first.timestep == 20
    assert first.probabilities(states) == pytest.approx(short.action_probabilities(states))


def test_drawing_leaves_the_agent_as_it_is(tmp_path):
    agents = [POWR("FrozenLake-v1", seed=1000).learn(100) for _ in range(2)]
    plots.explain(agents[0], tmp_path / "lake.gif", show=["value"])
    plots.explain(agents[0], tmp_path / "lake.png")
    for number, agent in enumerate(agents):
        agent.learn(100).save(tmp_path / f"{number}.npz")
    assert (tmp_path / "0.npz").read_bytes() == (tmp_path / "1.npz").read_bytes()


# -- pictures -------------------------------------------------------------------------------------


def titles(figure):
    return [panel.get_title(loc="left").partition(":")[0] for panel in figure.axes]


def texts(panel):
    return [text.get_text() for text in panel.texts]


def test_a_map_shows_its_numbers_and_letters(lake):
    figure = plots.draw(lake)
    assert titles(figure) == ["Value", "Policy", "Visits", "Uncertainty"]
    assert "after 1,000 timesteps" in figure.get_suptitle()
    visits = figure.axes[2]
    counts = beliefs_of(lake).visits(np.arange(16))
    cells = [cell for cell in range(16) if cell not in (5, 7, 11, 12, 15)]
    assert texts(visits)[:11] == [f"{counts[cell]:,}" for cell in cells if counts[cell]]
    assert sorted(texts(visits)[11:]) == ["G", "H", "H", "H", "H", "S"]


def test_arrows_point_where_the_policy_goes(lake):
    (panel,) = plots.draw(lake, show=["policy"]).axes
    arrows = {}
    for arrow in panel.texts:
        if arrow.get_text() == "":
            (x, y), (x0, y0) = arrow.xy, arrow.xyann
            arrows.setdefault((int(y0), int(x0)), set()).add((np.sign(x - x0), np.sign(y0 - y)))
    assert arrows[3, 2] == {RIGHT}
    assert arrows[1, 0] == {DOWN}


def test_a_plane_shows_values_and_the_last_episode(car):
    figure = plots.draw(car)
    assert titles(figure)[:4] == ["Value", "Policy", "Visits", "Uncertainty"]
    value, policy, visits, _ = figure.axes[:4]
    assert (value.get_xlabel(), value.get_ylabel()) == ("position", "velocity")
    shown = value.images[0].get_array()
    low, high, *_ = value.images[0].get_extent()
    assert low < -0.5 < high
    lattice = PlaneSampler(layout_of(car.env)[0], beliefs_of(car)).states
    assert np.ravel(shown).tolist() == pytest.approx(beliefs_of(car).values(lattice).tolist())
    assert visits.images[0].get_array().sum() == 400
    assert [text.get_text() for text in policy.get_legend().texts] == ["left", "none", "right"]
    assert len(value.lines) > 0


def test_slices_say_what_is_held(tmp_path):
    figure = plots.draw(POWR("CartPole-v1", seed=1000).learn(60))
    assert titles(figure).count("Value") == 2
    assert "at the median of cart position, cart velocity" in figure.get_supxlabel()


def test_slices_of_acrobot_are_over_its_angles():
    states = np.array([[np.cos(0.3), np.sin(0.3), np.cos(-2), np.sin(-2), 1.0, -4.0]])
    first, second = layout_of(gymnasium.make("Acrobot-v1"))
    assert first.project(states) == pytest.approx(np.array([[0.3, 1.0]]))
    assert second.project(states) == pytest.approx(np.array([[-2.0, -4.0]]))
    assert first.embed(np.array([[0.3, 1.0]]), states[0]) == pytest.approx(states)


def test_taxi_has_a_map_per_passenger_and_destination():
    agent = POWR("Taxi-v3", seed=1000).learn(300)
    figure = plots.draw(agent)
    panels = [panel.get_title(loc="left") for panel in figure.axes]
    assert panels[0] == "passenger waits at R, to G"
    assert sum(title.startswith("passenger") for title in panels) == 16
    with pytest.raises(ValueError, match="16 maps per quantity: show one"):
        plots.draw(agent, show=["value", "visits"])


def test_the_cells_of_taxi_are_its_states():
    env = gymnasium.make("Taxi-v3").unwrapped
    cells = layout_of(env).states["passenger rides, to B"]
    assert list(env.decode(cells[2, 4])) == [2, 4, 4, 3]


def test_a_png_and_a_gif_over_training_are_written(lake, tmp_path):
    plots.explain(lake, tmp_path / "lake.png", show=["value"])
    plots.explain(lake, tmp_path / "lake.gif", show=["value"])
    with Image.open(tmp_path / "lake.png") as image:
        assert image.format == "PNG"
        assert len(image.convert("RGB").getcolors(100_000)) > 10
    with Image.open(tmp_path / "lake.gif") as animation:
        assert animation.n_frames > 5
        first = np.asarray(animation.convert("RGB"))
        animation.seek(animation.n_frames - 1)
        assert (np.asarray(animation.convert("RGB")) != first).any()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lake.gif", "lake.png"]


def test_a_summed_agent_is_drawn_but_its_history_is_not(tmp_path):
    agent = POWR("MountainCar-v0", seed=1000, summed=True).learn(400)
    assert titles(plots.draw(agent))[:2] == ["Value", "Policy"]
    with pytest.raises(ValueError, match="plans are summed holds its last"):
        plots.explain(agent, tmp_path / "car.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_map_of_ones_own():
    agent = POWR(Corridor(), seed=1000).learn(200)
    corridor = GridMap({"": np.arange(10)[None]}, arrows=("<", ">"))
    (panel,) = plots.draw(agent, layout=corridor, show=["policy"]).axes
    assert texts(panel).count(">") >= 8


def turned(env):
    """Observations and actions in reverse."""
    env = TransformObservation(env, lambda state: state[::-1], env.observation_space)
    return TransformAction(env, lambda action: 2 - action, env.action_space)


@pytest.mark.parametrize(
    ("wrap", "n_planes", "actions"),
    [
        (lambda env: FrameStackObservation(env, 2), 2, ["left", "none", "right"]),
        (turned, 1, ["0", "1", "2"]),
    ],
    ids=["stacked", "turned"],
)
def test_what_a_wrapper_changes_is_named_by_its_number(wrap, n_planes, actions):
    figure = plots.draw(POWR(wrap(gymnasium.make("MountainCar-v0")), seed=1000).learn(60))
    value, policy = figure.axes[:2]
    assert titles(figure).count("Value") == n_planes
    assert (value.get_xlabel(), value.get_ylabel()) == ("observation 0", "observation 1")
    assert [text.get_text() for text in policy.get_legend().texts] == actions


def test_a_cell_without_a_state_is_closed(lake):
    cells = np.arange(16).reshape(4, 4)
    cells[1, 1] = -1
    closed = GridMap({"": cells}, arrows="abcd", closed=frozenset([(1, 1)]))
    assert plots.draw(lake, layout=closed).axes
    with pytest.raises(ValueError, match=r"has the state -1 in cell \(1, 1\), but states"):
        plots.draw(lake, layout=replace(closed, closed=frozenset()))


def test_one_quantity_may_be_named_alone(lake):
    assert titles(plots.draw(lake, show="value")) == ["Value"]


# -- what cannot be drawn -------------------------------------------------------------------------


class FrozenLakeEnv(Corridor):
    """A namesake of gymnasium's."""


LAKE, POLE = gymnasium.make("FrozenLake-v1", is_slippery=False), gymnasium.make("CartPole-v1")
CHANGED = "no map is known.*without wrappers that change observations or actions"

UNDRAWABLE = {
    "cards": (gymnasium.make("Blackjack-v1"), "Blackjack-v1 cannot be drawn: no map is known"),
    "namesake": (FrozenLakeEnv(), "no map is known"),
    "renumbered": (TransformObservation(LAKE, lambda state: 15 - state, Discrete(16)), CHANGED),
    "other actions": (TransformAction(LAKE, lambda action: 1 + action, Discrete(2)), CHANGED),
    "flattened": (FlattenObservation(LAKE), "have 16 dimensions"),
    "line": (
        TransformObservation(POLE, lambda state: state[:1], Box(-5, 5, (1,))),
        "have 1 dimensions",
    ),
    "many dimensions": (
        TransformObservation(POLE, lambda state: np.tile(state, 3), Box(-np.inf, np.inf, (12,))),
        "have 12 dimensions",
    ),
}


@pytest.mark.parametrize(("env", "message"), UNDRAWABLE.values(), ids=UNDRAWABLE)
def test_what_cannot_be_drawn_is_refused(env, message):
    with pytest.raises(ValueError, match=message):
        plots.draw(POWR(env, seed=1000).learn(60))


CELLS = np.arange(16).reshape(4, 4)

UNFIT = {
    "too few arrows": (GridMap({"": CELLS}, arrows="ab"), "has 2 arrows, but FrozenLake-v1 has 4"),
    "a line": (GridMap({"": CELLS[0]}, arrows="abcd"), r"rows and columns, got ndarray .*\(4,\)"),
    "no title": (GridMap(CELLS, arrows="abcd"), "must be maps by title"),
    "too large": (GridMap({"": CELLS + 1}, arrows="abcd"), "numbered from 0 to 15"),
    "never seen": (GridMap({"": CELLS[1:2, 1:2]}, arrows="abcd"), "never was in a state of layout"),
    "a plane": ([Plane("x", "y", None, None)], r"must be a GridMap for .* FrozenLake-v1, Discrete"),
}


@pytest.mark.parametrize(("layout", "message"), UNFIT.values(), ids=UNFIT)
def test_a_layout_that_does_not_fit_is_refused(layout, message, lake):
    with pytest.raises(ValueError, match=message):
        plots.draw(lake, layout=layout)


def test_a_map_of_a_box_is_refused(car):
    with pytest.raises(
        ValueError, match="layout must be planes, or left out, for the observations"
    ):
        plots.draw(car, layout=GridMap({"": CELLS}, arrows="abc"))


@pytest.mark.parametrize("show", [["valeu"], "valeu", []])
def test_what_is_not_known_is_not_shown(show, lake):
    with pytest.raises(ValueError, match=r"show must be some of value, .*, got ('valeu'|none)$"):
        plots.draw(lake, show=show)


def test_an_agent_without_a_plan_is_refused():
    with pytest.raises(ValueError, match="has not made a plan yet, after 5 timesteps"):
        plots.draw(POWR("MountainCar-v0").learn(5))


def program(text):
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, cwd=ROOT, check=False
    )


def test_powr_is_imported_without_matplotlib():
    finished = program("import sys, powr, powr.cli; print('matplotlib' in sys.modules)")
    assert finished.stdout == "False\n", finished.stderr


def test_a_missing_matplotlib_is_named_with_the_extra_that_installs_it():
    finished = program("import sys; sys.modules['matplotlib'] = None\nimport powr.plots")
    last_line = finished.stderr.strip().splitlines()[-1]
    assert last_line == "ImportError: pictures need matplotlib: pip install 'powr[plots]'"
