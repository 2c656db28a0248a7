"""What the tests of the extension share with those of the replication."""

from tests.conftest import real_study as real_study
from tests.conftest import write_study as write_study
