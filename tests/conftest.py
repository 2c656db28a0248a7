"""What every test may rely on."""

import copy
import shutil
import signal
import threading
from pathlib import Path

import hypothesis
import pytest
import yaml

from suite import config

ENVS = Path(__file__).parents[1] / "envs.yaml"

# Hypothesis draws the same few examples in every run, however busy the machine is.
hypothesis.settings.register_profile(
    "deterministic", derandomize=True, max_examples=20, deadline=None, database=None
)
hypothesis.settings.load_profile("deterministic")


def pytest_configure():
    # A shell that starts the tests in the background has them ignore Ctrl-C, and so would every
    # program that a test starts and interrupts.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real_study():
    return config.load(ENVS)


@pytest.fixture(scope="session")
def raw_study():
    return config.read_yaml(ENVS)


@pytest.fixture
def study(raw_study):
    """The values of the real study's file, free to be changed."""
    return copy.deepcopy(raw_study)


@pytest.fixture
def write_study(tmp_path):
    def write(study):
        path = tmp_path / "envs.yaml"
        path.write_text(study if isinstance(study, str) else yaml.safe_dump(study, sort_keys=False))
        return path

    return write


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium, "Chromium is missing: apt-get install chromium (Ubuntu: chromium-browser)"
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()
