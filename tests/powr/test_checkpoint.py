"""Agents as files: the same bits after loading, and nothing but arrays in the file."""

import itertools
import json
import os
import pickle
import shutil
import zipfile

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from powr import POWR, compact
from powr.kernels import Dirac, Exponential, Gaussian, Matern32, Matern52
from powr.rollout import rollout
from powr.world_model import WorldModel
from tests.powr.environments import Corridor
from tests.powr.snapshot import snapshot
from tests.powr.summed import summed

# Ways to make an agent, and how many steps to take before and after saving: each save falls in
# the middle of an episode, and the low-rank ones after the dictionary was chosen anew.
RUNS = {
    "finite": (lambda: POWR("FrozenLake-v1", seed=3), 333, 200),
    "box": (lambda: POWR("MountainCar-v0"), 250, 250),
    "FrozenLake-v1": (lambda: summed("FrozenLake-v1", seed=3), 333, 200),
    "Taxi-v3": (lambda: summed("Taxi-v3", step_size=0.01, epoch_growth=0.1), 2100, 1000),
    "exact": (lambda: summed("MountainCar-v0", mirror_steps=2), 250, 250),
    "from data": (lambda: summed("CartPole-v1", mirror_steps=2, episodes_per_epoch=4), 230, 200),
    "low rank": (
        lambda: summed(
            "MountainCar-v0",
            kernel=Gaussian([0.6, 0.06]),
            mirror_steps=1,
            epoch_growth=0.2,
            max_rank=60,
            prior=-20.0,
        ),
        3150,
        1000,
    ),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agent.npz"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A saved agent on FrozenLake with an episode under way; tests work on copies."""
    path = tmp_path_factory.mktemp("saved") / "agent.npz"
    summed("FrozenLake-v1", seed=1).learn(105).save(path)
    return path


# -- the same bits --------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "before", "after"), RUNS.values(), ids=RUNS)
def test_a_loaded_agent_is_the_same_and_goes_on_the_same(make, before, after, path):
    agent = make().learn(before)
    assert agent._collector.episode is not None
    agent.save(path)
    loaded = POWR.load(path)
    assert snapshot(loaded) == snapshot(agent)
    assert snapshot(loaded.learn(after)) == snapshot(make().learn(before + after))


@pytest.mark.parametrize("timesteps", [0, 1, 10, 25, 40])
def test_an_agent_can_be_saved_at_any_time(timesteps, path):
    def make():
        return summed(Corridor(start=2), episodes_per_epoch=3)

    agent = make()
    if timesteps:
        agent.learn(timesteps)
    agent.save(path)
    loaded = POWR.load(path, Corridor(start=2))
    assert snapshot(loaded) == snapshot(agent)
    assert snapshot(loaded.learn(60)) == snapshot(make().learn(timesteps + 60))


@pytest.mark.parametrize("stop", [5, 10])
def test_an_agent_saved_by_its_callback_goes_on_the_same(stop, path):
    def save(agent):
        if agent.num_timesteps == stop:
            agent.save(path)

    agent = POWR(Corridor(length=10)).learn(30, callback=save)
    assert snapshot(POWR.load(path, Corridor(length=10)).learn(30 - stop)) == snapshot(agent)


def interrupt(function, at_calls):
    """The function, and Ctrl-C when its work is done for one of these times."""
    calls = itertools.count(1)

    def interrupted(*arguments, **keywords):
        result = function(*arguments, **keywords)
        if next(calls) in at_calls:
            raise KeyboardInterrupt
        return result

    return interrupted


@pytest.mark.parametrize("name", ["partial_fit", "solve"])
@pytest.mark.parametrize("at_calls", [[1], [3], [3, 4], [3, 5]])
@pytest.mark.parametrize("method", ["tabular", "exact", "local", "subset", "low_rank"])
def test_an_interrupted_plan_is_made_later(name, at_calls, method, path, monkeypatch):
    def make():
        if method == "tabular":
            return summed(Corridor(), mirror_steps=2)
        return summed(Corridor(continuous=True), mirror_steps=2, method=method, max_rank=8)

    agent = make()
    with monkeypatch.context() as patch:
        patch.setattr(WorldModel, name, interrupt(getattr(WorldModel, name), at_calls))
        for _ in at_calls:
            with pytest.raises(KeyboardInterrupt):
                agent.learn(60)
    agent.save(path)
    loaded = POWR.load(path, make().env)
    assert snapshot(loaded) == snapshot(agent)
    uninterrupted = snapshot(make().learn(60))
    for one in (loaded, agent):
        assert snapshot(one.learn(60 - one.num_timesteps)) == uninterrupted


@pytest.mark.parametrize("progress_bar", [False, True])
def test_an_interrupted_plan_ends_at_once(progress_bar, monkeypatch):
    calls = []

    def partial_fit(self, *columns):
        calls.append(columns)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fit(self, *columns)

    fit = WorldModel.partial_fit
    monkeypatch.setattr(WorldModel, "partial_fit", partial_fit)
    with pytest.raises(KeyboardInterrupt):
        summed(Corridor()).learn(60, progress_bar=progress_bar)
    assert len(calls) == 3


def test_a_loaded_agent_predicts_the_same(path):
    agent = POWR("CartPole-v1", mirror_steps=2).learn(300)
    agent.save(path)
    loaded = POWR.load(path)
    observations = np.random.default_rng(0).normal(size=(200, 4))
    for ask in (
        lambda one: one.action_probabilities(observations),
        lambda one: one.predict(observations, deterministic=True)[0],
        lambda one: one.predict(observations, deterministic=False)[0],
    ):
        np.testing.assert_array_equal(ask(loaded), ask(agent))


@pytest.mark.parametrize(
    "kernel",
    [Dirac(), Gaussian(0.3), Exponential([0.1, 1 / 3]), Matern32(0.3), Matern52([1.0, 2.0])],
    ids=lambda k: type(k).__name__,
)
def test_kernels_are_kept(kernel, path):
    summed("MountainCar-v0", kernel=kernel).save(path)
    assert repr(POWR.load(path).kernel) == repr(kernel)


class Doubled:
    """A kernel of one's own."""

    def __init__(self, bandwidth):
        self.inner = Exponential(bandwidth)

    def __call__(self, x, y):
        return 2 * self.inner(x, y)


def test_a_kernel_of_ones_own_is_given_to_load(path):
    agent = summed("MountainCar-v0", kernel=Doubled([0.6, 0.06]), max_rank=30).learn(250)
    agent.save(path)
    loaded = POWR.load(path, kernel=Doubled([0.6, 0.06]))
    assert snapshot(loaded.learn(250)) == snapshot(agent.learn(250))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            None,
            r"Doubled is not one of powr's own.*: load it in Python by POWR\.load\(path, kernel=",
        ),
        (Doubled([0.6, 0.07]), "other values at the same states"),
        (Exponential([0.6, 0.06]), "other values at the same states"),
        ("Doubled", "kernel must be one of"),
    ],
    ids=["none", "other bandwidth", "other kernel", "text"],
)
def test_another_kernel_than_ones_own_is_refused(path, given, message):
    summed("MountainCar-v0", kernel=Doubled([0.6, 0.06])).save(path)
    with pytest.raises((ValueError, TypeError), match=message):
        POWR.load(path, kernel=given)


def test_another_kernel_than_the_built_in_one_is_refused(path):
    POWR("MountainCar-v0", kernel=Gaussian(0.5)).save(path)
    assert POWR.load(path, kernel=Gaussian(0.5)).kernel == Gaussian(0.5)
    with pytest.raises(ValueError, match=r"trained with the kernel Gaussian\(0\.5\), not with"):
        POWR.load(path, kernel=Gaussian(0.6))


@pytest.mark.parametrize("make", [POWR, summed], ids=["afresh", "summed"])
def test_a_kernel_for_an_agent_that_chose_its_own_is_refused(make, path):
    make("FrozenLake-v1").learn(40).save(path)
    with pytest.raises(ValueError, match=r"that POWR chooses, not with Gaussian\(0\.6\): leave"):
        POWR.load(path, kernel=Gaussian(0.6))


def test_loading_imports_nothing_that_the_file_names(path, tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    summed("MountainCar-v0", kernel=Doubled(0.5)).save(path)
    named = {"name": "custom", "type": "trap.Kernel", "gram": [[1.0]]}
    rewrite_metadata(path, path, lambda metadata: metadata.update(kernel=named))
    refused(path, r"its kernel trap\.Kernel is not one of powr's own")


def test_saving_is_deterministic_and_leaves_nothing_else_behind(saved, tmp_path):
    POWR.load(saved).save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == saved.read_bytes()
    assert os.listdir(tmp_path) == ["again.npz"]


def test_any_file_name_will_do(tmp_path):
    POWR("FrozenLake-v1").save(str(tmp_path / "agent"))
    assert os.listdir(tmp_path) == ["agent"]


def test_a_failing_save_leaves_the_old_file(saved, path, monkeypatch):
    shutil.copy(saved, path)
    monkeypatch.setattr(np, "savez_compressed", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        POWR("FrozenLake-v1").save(path)
    assert path.read_bytes() == saved.read_bytes()
    assert os.listdir(path.parent) == [path.name]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        POWR("FrozenLake-v1").save(tmp_path / "nowhere" / "agent.npz")


# -- environments ---------------------------------------------------------------------------------


def test_the_environment_is_made_anew_with_its_arguments_and_time_limit(path):
    env = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=False, max_episode_steps=17)
    POWR(env).learn(40).save(path)
    spec = POWR.load(path).env.spec
    assert spec.max_episode_steps == 17
    assert spec.kwargs == {"map_name": "8x8", "is_slippery": False}


def test_an_environment_without_time_limit_stays_without(path):
    POWR(gymnasium.make("CartPole-v1", max_episode_steps=-1)).save(path)
    assert POWR.load(path).env.spec.max_episode_steps is None


def test_the_way_of_rendering_is_not_kept(path):
    POWR(gymnasium.make("CartPole-v1", render_mode="rgb_array")).save(path)
    assert POWR.load(path).env.render_mode is None


@pytest.mark.parametrize("limits", [(20, 100), (None, 20), (20, None)])
def test_another_time_limit_changes_no_policy(limits, path):
    def lake(limit):
        return gymnasium.make("FrozenLake-v1", max_episode_steps=limit or -1)

    trained, given = limits
    agent = POWR(lake(trained)).learn(600)
    agent.learn(10_000, callback=lambda agent: agent._collector.episode is None)
    gamma = agent.settings_["gamma"][0]
    agent.save(path)
    assert snapshot(POWR.load(path)) == snapshot(agent)
    for _ in range(2):  # also from the file that the loaded agent writes
        loaded = POWR.load(path, lake(given))
        assert loaded.gamma == loaded._planner.gamma == gamma
        np.testing.assert_array_equal(
            loaded.action_probabilities(range(16)), agent.action_probabilities(range(16))
        )
        loaded.save(path)


def test_a_time_limit_that_is_a_wrapper_counts_as_one_that_is_registered(path):
    def limited(steps):
        return gymnasium.wrappers.TimeLimit(Corridor(length=1000), steps)

    agent = POWR(limited(20)).learn(105)
    value, reason = agent.settings_["gamma"]
    assert value == 1 - 1 / 200
    assert reason.startswith("ten time limits")
    *_, last = rollout(agent, agent.env, seed=0)
    assert last.timestep == 20
    agent.learn(15).save(path)
    assert snapshot(POWR.load(path, limited(20))) == snapshot(agent)
    assert POWR.load(path, limited(50)).gamma == value
    assert POWR("CliffWalking-v1").settings_["gamma"][1].endswith("there is no time limit")


def test_the_discount_of_a_box_does_not_depend_on_the_time_limit(path):
    POWR(gymnasium.make("CartPole-v1", max_episode_steps=20)).learn(50).save(path)
    assert POWR.load(path, "CartPole-v1").gamma is None


UNMAKEABLE = {
    "no id": Corridor,
    "wrapped": lambda: gymnasium.wrappers.TransformReward(
        gymnasium.make("CartPole-v1"), lambda reward: 2 * reward
    ),
    "not JSON": lambda: gymnasium.make("FrozenLake-v1", desc=np.array([["S", "G"]])),
}


class Paid(Corridor):
    """Pays what it is told for each place."""

    def __init__(self, pay):
        super().__init__()
        self.pay = pay

    def step(self, action):
        observation, _, *rest = super().step(action)
        return observation, self.pay[0][observation], *rest


@pytest.fixture
def paid():
    gymnasium.register("Paid-v0", Paid)
    yield lambda: gymnasium.make("Paid-v0", pay=[{place: place / 9 for place in range(10)}])
    del gymnasium.registry["Paid-v0"]


def test_an_environment_with_arguments_that_json_would_change_must_be_given(paid, path):
    POWR(paid()).learn(15).save(path)
    with pytest.raises(ValueError, match=r"cannot be made .*: give env"):
        POWR.load(path)
    assert POWR.load(path, paid()).learn(5).num_timesteps == 20


@pytest.mark.parametrize("make", UNMAKEABLE.values(), ids=UNMAKEABLE)
def test_an_environment_that_no_id_makes_must_be_given(make, path):
    POWR(make()).learn(15).save(path)
    with pytest.raises(ValueError, match=r"cannot be made .*: give env"):
        POWR.load(path)
    assert POWR.load(path, make()).num_timesteps == 15


def test_an_id_may_be_given(saved):
    assert POWR.load(saved, "FrozenLake-v1").num_timesteps == 105


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("CartPole-v1", "trained on FrozenLake-v1, not on CartPole-v1"),
        (gymnasium.make("FrozenLake-v1", map_name="8x8"), "observation space .*'n': 16.*'n': 64"),
        (Corridor(), "observation space .*'n': 16.*'n': 10"),
    ],
    ids=["id", "states", "spaces"],
)
def test_another_environment_is_refused(saved, env, message):
    with pytest.raises(ValueError, match=rf"agent\.npz cannot be loaded: .*{message}"):
        POWR.load(saved, env)


def test_another_numbering_of_actions_is_refused(path):
    POWR(Corridor(start=1)).save(path)
    with pytest.raises(ValueError, match=r"action space .*'start': 1.*'start': 0"):
        POWR.load(path, Corridor(start=0))


def test_an_episode_that_cannot_be_repeated_is_taken_back(path):
    class Shifted(Corridor):
        def reset(self, *, seed=None, options=None):
            return super().reset(seed=seed + 1)

    POWR(Corridor()).learn(25).save(path)
    with pytest.warns(UserWarning, match="did not repeat .* 5 timesteps .* taken back"):
        loaded = POWR.load(path, Shifted())
    assert snapshot(loaded) == snapshot(POWR(Corridor()).learn(20))


# -- files that are not agents --------------------------------------------------------------------


def rewrite(saved, path, /, **replaced):
    """A copy with other arrays in it; None leaves one out."""
    with np.load(saved) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays |= replaced
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


def rewrite_metadata(saved, path, change):
    with np.load(saved) as archive:
        metadata = json.loads(str(archive["metadata"]))
    change(metadata)
    rewrite(saved, path, metadata=np.array(json.dumps(metadata)))


def refused(path, message, env=None):
    with pytest.raises(ValueError, match=rf"agent\.npz cannot be loaded: .*({message})"):
        POWR.load(path, env)


def test_a_missing_file_is_a_missing_file(path):
    with pytest.raises(FileNotFoundError, match=r"agent\.npz"):
        POWR.load(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY\x01\x00", pickle.dumps([1, 2])])
def test_another_kind_of_file_is_refused(content, path):
    path.write_bytes(content)
    refused(path, "it is not an .npz file")


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.99])
def test_a_truncated_file_is_refused(saved, path, fraction):
    content = saved.read_bytes()
    path.write_bytes(content[: int(fraction * len(content))])
    refused(path, "it is not an .npz file, or a truncated one")


def test_flipped_bits_are_found(saved, path):
    content = bytearray(saved.read_bytes())
    with zipfile.ZipFile(saved) as file:
        member = file.getinfo("path.npy")
    content[member.header_offset + 30 + len("path.npy") + 60] ^= 0xFF
    path.write_bytes(content)
    refused(path, "it is damaged|its path")


def test_another_format_is_refused(saved, path):
    rewrite_metadata(saved, path, lambda metadata: metadata.update(format=1, version="0.9"))
    refused(path, r"it has format 1, written by powr 0\.9, but powr .* reads format 2")


@pytest.mark.parametrize("name", ["metadata", *compact.NAMES, "coefficients", "episode_returns"])
def test_a_missing_array_is_named(saved, path, name):
    rewrite(saved, path, **{name: None})
    refused(path, f"it lacks {name}")


def test_an_array_too_many_is_named(saved, path):
    rewrite(saved, path, payload=np.zeros(3))
    refused(path, "it holds payload")


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("name", ["metadata", "states", "coefficients", "payload"])
def test_pickled_objects_are_refused_and_never_run(saved, path, name, monkeypatch):
    rewrite(saved, path, **{name: np.array([Bomb()], dtype=object)})
    monkeypatch.chdir(path.parent)
    refused(path, f"its {name} holds pickled Python objects|it holds payload")
    assert not os.path.exists("exploded")


ABSURD = {
    "states": [np.zeros((16, 2)), np.zeros(16), np.array(3), np.array(["a"])],
    "path": [np.full(3, 10**6), np.zeros(3, int), np.zeros((2, 2), int)],
    "chain_lengths": [np.array([1]), np.array([-5, 110])],
    "actions": [np.zeros(3, int), np.full(105, 200, np.uint8), np.zeros(105)],
    "rewards": [np.full(105, np.nan), np.zeros(10**6), np.array(1.0)],
    "terminated": [np.zeros(105), np.zeros(3, bool)],
    "chunk_lengths": [np.array([105]), np.array([100, 5]), np.array([], int)],
    "coefficients": [np.zeros((1, 4)), np.zeros((16, 5)), np.zeros(16), np.full((16, 4), np.nan)],
    "exponents_at_states": [np.zeros((10**5, 4)), np.zeros((16, 4), complex)],
    "episode_returns": [np.array(["a"]), np.array([[1.0]]), np.array([np.inf])],
}


@pytest.mark.parametrize(
    ("name", "array"), [(name, array) for name, arrays in ABSURD.items() for array in arrays]
)
def test_arrays_that_do_not_fit_are_refused(saved, path, name, array):
    rewrite(saved, path, **{name: array})
    refused(path, "")


def test_a_shape_that_is_not_there_is_refused_before_memory_is_taken(saved, path):
    shutil.copy(saved, path)
    header = str({"descr": "<f8", "fortran_order": False, "shape": (10**12,)}).encode()
    header += b" " * (118 - len(header) - 1) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    rewrite(saved, path, rewards=None)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("rewards.npy", content)
    refused(path, r"its rewards promises the shape \(1000000000000,\)")


BAD_METADATA = {
    "id that imports": (lambda m: m["environment"].update(id="os:CartPole-v1"), "import a module"),
    "unknown id": (lambda m: m["environment"].update(id="Nothing-v0"), "cannot be made here"),
    "unknown argument": (lambda m: m["environment"]["kwargs"].update(x=1), "cannot be made here"),
    "unknown kernel": (lambda m: m.update(kernel={"name": "POWR"}), "its kernel 'POWR' is not"),
    "kernel with bandwidth": (
        lambda m: m.update(kernel={"name": "Dirac", "bandwidth": 1}),
        "its metadata are not as save writes them",
    ),
    "bad setting": (lambda m: m["settings"].update(gamma=2.0), "gamma must be"),
    "unknown setting": (lambda m: m["settings"].update(speed=2.0), "its metadata are not"),
    "epochs": (lambda m: m.update(epochs=[*m["epochs"], 1]), "its epochs have|its coefficients"),
    "negative epochs": (lambda m: m.update(epochs=[-1]), "are not numbers of episodes"),
    "no list of epochs": (lambda m: m.update(epochs=3), "its metadata are not as save writes"),
    "planned later": (lambda m: m.update(planned_at=1000), "its metadata speak of"),
    "planned before": (lambda m: m.update(before_episode=[-1, 0]), "its metadata speak of"),
    "planned when": (lambda m: m.pop("plan_is_due"), "its metadata are not as save writes"),
    "no settings": (lambda m: m.pop("settings"), "its metadata are not as save writes them"),
    "random state": (lambda m: m["random_states"].update(training={}), ""),
    "timesteps": (lambda m: m.update(num_timesteps=None), "its metadata are not as save writes"),
}


@pytest.mark.parametrize(("change", "message"), BAD_METADATA.values(), ids=BAD_METADATA)
def test_metadata_that_do_not_fit_are_refused(saved, path, change, message):
    rewrite_metadata(saved, path, change)
    refused(path, message)


@pytest.mark.parametrize("text", ["", "[]", "3", '{"format": 1}', "not json"])
def test_metadata_that_are_no_metadata_are_refused(saved, path, text):
    rewrite(saved, path, metadata=np.array(text))
    refused(path, "")


def test_an_id_that_imports_is_accepted_from_the_caller(saved, path):
    rewrite_metadata(
        saved, path, lambda metadata: metadata["environment"].update(id="os:FrozenLake-v1")
    )
    refused(path, "it was trained on os:FrozenLake-v1", env="FrozenLake-v1")


# -- size -----------------------------------------------------------------------------------------


def test_150000_transitions_of_taxi_stay_below_a_quarter_of_a_megabyte(path):
    env = gymnasium.make("Taxi-v3")
    rng = np.random.default_rng(0)
    episodes = []
    observation, _ = env.reset(seed=0)
    states, actions, rewards, next_states, terminated = ([] for _ in range(5))
    for action in rng.integers(6, size=150_000).tolist():
        states.append(observation)
        observation, reward, end, truncated, _ = env.step(action)
        actions.append(action)
        rewards.append(float(reward))
        next_states.append(observation)
        terminated.append(end)
        if end or truncated:
            observation, _ = env.reset()
    episodes = [tuple(map(np.array, (states, actions, rewards, next_states, terminated)))]
    np.savez_compressed(path, **compact.pack(episodes, ()))
    assert path.stat().st_size < 250_000
    with np.load(path) as arrays:
        (unpacked,) = compact.unpack(arrays, ())
    for packed, column in zip(episodes[0], unpacked, strict=True):
        np.testing.assert_array_equal(column, packed)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_packing_keeps_every_transition_and_chunk(shape):
    rng = np.random.default_rng(0)
    places = rng.integers(-(10**12), 10**12, size=5) if shape == () else rng.normal(size=(5, 3))
    chunks = [
        (
            places[rng.integers(5, size=n)],
            rng.integers(4, size=n),
            rng.normal(size=n),
            places[rng.integers(5, size=n)],
            rng.random(n) < 0.5,
        )
        for n in (1, 7, 30)
    ]
    unpacked = compact.unpack(compact.pack(chunks, shape), shape)
    assert len(unpacked) == len(chunks)
    for columns, expected in zip(unpacked, chunks, strict=True):
        for column, original in zip(columns, expected, strict=True):
            assert column.dtype == original.dtype
            np.testing.assert_array_equal(column, original)


def test_the_space_of_a_discrete_environment_may_start_anywhere(path):
    class Below(Corridor):
        def __init__(self):
            super().__init__()
            self.observation_space = Discrete(10, start=-5)

        def observation(self):
            return self.place - 5

    agent = POWR(Below()).learn(25)
    agent.save(path)
    assert snapshot(POWR.load(path, Below())) == snapshot(agent)
