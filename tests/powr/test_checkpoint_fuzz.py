"""Any bytes in place of a saved agent: loaded or refused by one of our errors, and nothing run."""

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from powr import POWR
from powr.checkpoint import ARRAYS

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["../escaped", "/escaped", "os:system", "__import__('os')", 10**400]),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3)
    ),
    max_leaves=5,
)
arrays = st.tuples(
    st.sampled_from([bool, np.int8, np.int64, np.uint64, float, complex, "U3", "S3", "M8[s]"]),
    st.lists(st.integers(0, 3), max_size=3),
).map(lambda kind: np.zeros(kind[1], kind[0]))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The arrays of an agent with an episode under way, the metadata as data, and the bytes."""
    path = tmp_path_factory.mktemp("saved") / "agent.npz"
    POWR("FrozenLake-v1", seed=1).learn(105).save(path)
    with np.load(path) as archive:
        contents = {name: archive[name] for name in archive.files}
    return contents, json.loads(str(contents["metadata"])), path.read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The current folder of all that is loaded here: it holds one file, before and after."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("loading"))
    yield
    os.chdir(before)


def load_or_refuse(content=None, **contents):
    if content is None:
        np.savez("agent.npz", **contents)
    else:
        with open("agent.npz", "wb") as file:
            file.write(content)
    refusal = "agent.npz cannot be loaded: "
    try:
        POWR.load("agent.npz")
    except ValueError as error:
        refusal = str(error)
    assert refusal.startswith("agent.npz cannot be loaded: ")
    assert os.listdir() == ["agent.npz"]


@settings(max_examples=60)
@given(data=st.data())
def test_damaged_bytes(saved, folder, data):
    _, _, content = saved
    start = data.draw(st.integers(0, len(content)))
    length = data.draw(st.integers(0, 40))
    load_or_refuse(content[:start] + data.draw(st.binary(max_size=40)) + content[start + length :])


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_any_bytes(folder, content):
    load_or_refuse(content)


def places(value, path=()):
    """Paths to every value inside JSON data."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    return {**value, path[0]: replaced(value[path[0]], path[1:], new)}


@settings(max_examples=120)
@given(data=st.data())
def test_other_metadata(saved, folder, data):
    contents, metadata, _ = saved
    path = data.draw(st.sampled_from(sorted(places(metadata), key=repr)))
    text = json.dumps(replaced(metadata, path, data.draw(json_values)))
    load_or_refuse(**{**contents, "metadata": np.array(text)})


@settings(max_examples=60)
@given(st.sampled_from(sorted(ARRAYS)), arrays)
def test_other_arrays(saved, folder, name, array):
    contents, _, _ = saved
    load_or_refuse(**{**contents, name: array})
