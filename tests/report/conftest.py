"""A report of made-up runs, of which some are missing."""

import pytest

from tests.support import replication


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """The quick scale without PPO on MountainCar-v0, and without fixed starts."""
    folder = tmp_path_factory.mktemp("results")
    replication.write_replication(folder, "quick")
    for path in (folder / "quick" / "MountainCar-v0" / "ppo").glob("seed*"):
        path.unlink()
    replication.make_tables_and_figures(folder, "quick")
    replication.make_report(folder, "quick")
    return folder
