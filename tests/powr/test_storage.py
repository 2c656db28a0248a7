"""Agents as files: what a loaded agent is and does, and nothing but arrays is read."""

import io
import json
import os
import pickle
import shutil
import warnings
import zipfile
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit, TransformReward

from powr import POWR
from powr.command import main
from powr.kernels import Abel, Dirac, Exponential, Gaussian, Matern52
from tests.powr.contract import assert_goes_on
from tests.powr.environments import Corridor, assert_same
from tests.support.command_line import refused_in_one_line

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.filterwarnings("ignore:action values lie beyond")

CAR = {"kernel": Gaussian([0.6, 0.06]), "seed": 3}
# Ways to make an agent, besides those of the contract, and how many steps to take before saving:
# most in the middle of an episode.
RUNS = {
    "finite, restart": (lambda: POWR("Taxi-v3", restart=True, seed=3), 700),
    "three episodes per epoch": (lambda: POWR("CartPole-v1", episodes_per_epoch=3, seed=3), 230),
    "Nystrom": (lambda: POWR("MountainCar-v0", method="nystrom", **CAR), 850),
    "Nystrom of full rank": (lambda: POWR("MountainCar-v0", max_rank=60, **CAR), 1250),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agent.npz"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A saved agent on FrozenLake with an episode under way; tests work on copies."""
    path = tmp_path_factory.mktemp("saved") / "agent.npz"
    POWR("FrozenLake-v1", seed=1).learn(105).save(path)
    return path


# -- the same bits --------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "n"), RUNS.values(), ids=RUNS)
def test_a_loaded_agent_is_the_same_and_goes_on_the_same(make, n, path):
    assert_goes_on(make().learn(n), path)


def test_settings_are_kept(path):
    given = {"gamma": 0.9, "step_size": 0.3, "mirror_steps": 4, "regularization": 1e-4, "seed": 7}
    given |= {"episodes_per_epoch": 2, "restart": True, "method": "nystrom", "max_rank": 50}
    POWR("FrozenLake-v1", **given).save(path)
    loaded = POWR.load(path)
    assert {name: getattr(loaded, name) for name in given} == given


@pytest.mark.parametrize("place", ["FrozenLake-v1", "Taxi-v3", "MountainCar-v0"])
def test_the_shipped_agents_are_read(place):
    shipped = sorted(ROOT.glob(f"results/paper/{place}/powr/*.npz"))
    assert len(shipped) == 7
    agent = POWR.load(shipped[0])
    assert agent.n_plans_ > 0
    assert agent.action_probabilities(agent.data.columns()[0][:3]).sum() == pytest.approx(3)


def test_saving_is_deterministic_and_leaves_nothing_else_behind(saved, tmp_path):
    POWR.load(saved).save(str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()
    assert os.listdir(tmp_path) == ["again"]


def test_a_failing_save_leaves_the_old_file(saved, path, monkeypatch):
    shutil.copy(saved, path)
    monkeypatch.setattr(np, "savez_compressed", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        POWR("FrozenLake-v1").save(path)
    assert path.read_bytes() == saved.read_bytes()
    assert os.listdir(path.parent) == [path.name]
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        POWR("FrozenLake-v1").save(path.parent / "nowhere" / "agent.npz")


# -- classes and kernels --------------------------------------------------------------------------


def test_built_in_kernels_are_kept(path):
    boxes = (Gaussian(0.3), Exponential([0.1, 1 / 3]), Abel(0.2), Matern52([1.0, 2.0]))
    for kernel in (Dirac(), *boxes):
        POWR("MountainCar-v0", kernel=kernel).save(path)
        assert POWR.load(path).kernel == POWR.load(path, kernel=kernel).kernel == kernel
    with pytest.raises(ValueError, match=r"trained with the kernel .*, not with Gaussian"):
        POWR.load(path, kernel=Gaussian(0.6))


class Doubled:
    """A custom kernel."""

    def __call__(self, x, y):
        return 2 * Exponential([0.6, 0.06])(x, y)


def test_a_custom_kernel_is_passed_to_load(path):
    agent = POWR("MountainCar-v0", kernel=Doubled(), max_rank=30).learn(250)
    agent.save(path)
    assert_same(POWR.load(path, kernel=Doubled()).learn(250), agent.learn(250))
    with pytest.raises(ValueError, match=r"kernel \(Doubled\) is not one of powr.kernels: give k"):
        POWR.load(path)


# -- environments ---------------------------------------------------------------------------------


def test_the_environment_is_made_again_with_its_arguments_and_time_limit(path):
    kwargs = {"map_name": "8x8", "is_slippery": False}
    given = {**kwargs, "max_episode_steps": 17, "render_mode": "rgb_array"}
    POWR(gymnasium.make("FrozenLake-v1", **given)).learn(40).save(path)
    made = POWR.load(path).env
    assert (made.spec.max_episode_steps, made.spec.kwargs) == (17, kwargs)
    assert made.render_mode is None
    POWR(gymnasium.make("CartPole-v1", max_episode_steps=-1)).save(path)
    assert POWR.load(path).env.spec.max_episode_steps is None


@pytest.mark.parametrize(
    "make",
    [
        Corridor,
        lambda: TransformReward(gymnasium.make("CartPole-v1"), lambda reward: 2 * reward),
        lambda: gymnasium.make("FrozenLake-v1", desc=np.array([["S", "G"]])),
    ],
)
def test_an_environment_that_no_id_makes_must_be_given(make, path):
    POWR(make()).learn(15).save(path)
    with pytest.raises(ValueError, match=r"cannot be made .*: give env"):
        POWR.load(path)
    assert POWR.load(path, make()).learn(5).num_timesteps == 20


def test_the_module_that_registers_an_environment_stays_in_its_id(path, monkeypatch):
    (path.parent / "my_tasks.py").write_text(
        "from gymnasium.envs.registration import register\n"
        "register('Halls-v0', 'tests.powr.environments:Corridor')\n"
    )
    monkeypatch.syspath_prepend(path.parent)
    POWR("my_tasks:Halls-v0").learn(20).save(path)
    refused(path, "give env='my_tasks:Halls-v0'")
    assert POWR.load(path, env="my_tasks:Halls-v0").learn(5).num_timesteps == 25
    arguments = f"train --env my_tasks:Halls-v0 --timesteps 20 --save {path}".split()
    assert main(arguments) == 0
    refused(path, "give env='my_tasks:Halls-v0'")


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("CartPole-v1", "trained on FrozenLake-v1, not on CartPole-v1"),
        (Corridor(), r"observation space Discrete\(16\), but .* Discrete\(10\)"),
    ],
)
def test_another_environment_is_refused(saved, env, message):
    assert POWR.load(saved, "FrozenLake-v1").num_timesteps == 105
    with pytest.raises(ValueError, match=message):
        POWR.load(saved, env)


def test_other_wrappers_are_warned_about(saved):
    env = TransformReward(gymnasium.make("FrozenLake-v1"), lambda reward: -reward)
    with pytest.warns(UserWarning, match=r"wrappers none, but .* \['TransformReward'\]") as caught:
        POWR.load(saved, env)
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        POWR.load(saved, TimeLimit(gymnasium.make("FrozenLake-v1"), 50))


# -- files that are not agents --------------------------------------------------------------------


def rewrite(saved, path, change=lambda metadata: None, /, **replaced):
    """A copy with other metadata or arrays in it; None leaves one out."""
    with np.load(saved) as archive:
        arrays = dict(archive)
    metadata = json.loads(str(arrays["metadata"]))
    change(metadata)
    arrays |= {"metadata": np.array(json.dumps(metadata)), **replaced}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


def refused(path, message, env=None):
    with pytest.raises(ValueError, match=rf"agent\.npz cannot be loaded: .*({message})"):
        POWR.load(path, env)


def test_another_kind_of_file_and_a_truncated_one_are_refused(saved, path):
    whole = saved.read_bytes()
    for content in (b"", pickle.dumps([1]), whole[: len(whole) // 2]):
        path.write_bytes(content)
        refused(path, r"it is not an \.npz file of an agent, or it is damaged")


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_pickled_objects_are_refused_and_never_run(saved, path, monkeypatch):
    monkeypatch.chdir(path.parent)
    for name in ("metadata", "states"):
        rewrite(saved, path, **{name: np.array([Bomb()], dtype=object)})
        refused(path, "allow_pickle=False")
    assert not os.path.exists("exploded")


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("states", None, "states"),
        ("states", np.zeros(105), "states must have shape"),
        ("last_states", np.zeros(1, int), "do not fit"),
        ("actions", np.full(105, 200, np.uint8), "actions must lie between 0 and 3, got 200"),
        ("terminated", np.zeros(3, bool), "different lengths"),
        ("ended", np.zeros(105), "its episodes do not fit its transitions"),
        ("coefficients", np.zeros((1, 4)), r"its coefficients of shape \(1, 4\) do not fit 1. st"),
        ("coefficients", np.full((16, 4), np.nan), "its coefficients must be finite"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(saved, path, name, array, message):
    rewrite(saved, path, **{name: array})
    refused(path, message)


NOT_AS_SAVED = "its contents are not as save writes them"
BAD_METADATA = {
    "another format": (lambda m: m.update(format=2, version="1.0"), r"format 2, written by powr 1"),
    "id that imports": (lambda m: m["environment"].update(id="os:CartPole-v1"), "import a module"),
    "unknown kernel": (lambda m: m.update(kernel={"name": "POWR"}), "kernel 'POWR' is not"),
    "bad setting": (lambda m: m["settings"].update(gamma=2.0), "gamma must be"),
    "unknown setting": (lambda m: m["settings"].update(speed=2.0), NOT_AS_SAVED),
    "later epochs": (lambda m: m["state"]["epochs"].append(1000), "its epochs .* do not fit 105"),
    "episodes": (lambda m: m.update(starts=[50, 3]), "its episodes do not fit"),
    "random state": (lambda m: m["random_states"].update(training={}), ""),
    "giant map": (
        lambda m: m["environment"]["kwargs"].update(desc=["S" + "F" * 298 + "G"] * 200),
        "very long arguments: give env",
    ),
    "giant space": (
        lambda m: m["environment"].update(spaces=[{"Box": ["V1000000000", {}]}] * 2),
        "not one of numbers",
    ),
}


@pytest.mark.parametrize(("change", "message"), BAD_METADATA.values(), ids=BAD_METADATA)
def test_metadata_that_do_not_fit_are_refused(saved, path, change, message):
    rewrite(saved, path, change)
    refused(path, message)


def rezip(saved, path, method=zipfile.ZIP_DEFLATED, /, **members):
    """A copy in which some members have other bytes."""
    members = {f"{name}.npy": content for name, content in members.items()}
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w", method) as new:
        for name in dict.fromkeys([*old.namelist(), *members]):
            new.writestr(name, members[name] if name in members else old.read(name))


def with_header(shape, dtype, content=b""):
    file = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + content


def test_sizes_are_checked_before_anything_is_read(saved, path, monkeypatch):
    """Nothing is unpacked: numpy's reader would fail the test."""
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("the file was read"))
    million = bytes(10**6)
    attacks = {
        "declare 8,000,000,000,": {"rewards": with_header((10**12,), "<f8")},
        "would unpack to": {"rewards": with_header((10**8,), "|i1", 100 * million)},
        "different lengths": {"rewards": with_header((10**6,), "|i1", million)},
        "members are": {"more": with_header((0,), "<f8")},
        "characters": {"metadata": with_header((), "<U250000", million)},
    }
    for message, members in attacks.items():
        rezip(saved, path, **members)
        refused(path, message)
    rezip(saved, path, zipfile.ZIP_LZMA)
    refused(path, "compressed in another way")


def test_metadata_nested_deeply_are_refused_in_one_line(saved, path, capsys):
    rewrite(saved, path, metadata=np.array("[" * 60_000))
    refused(path, NOT_AS_SAVED)
    refused_in_one_line(capsys, main, f"evaluate {path}", path.name)
