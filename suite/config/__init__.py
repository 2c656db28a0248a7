"""What envs.yaml says, checked, and the settings and names of the runs that follow from it."""

from suite.config.reading import check_known as check_known
from suite.config.reading import check_model as check_model
from suite.config.reading import check_unique as check_unique
from suite.config.reading import read_yaml as read_yaml
from suite.config.study import ABLATIONS as ABLATIONS
from suite.config.study import MULTIVERSE as MULTIVERSE
from suite.config.study import Run as Run
from suite.config.study import Variant as Variant
from suite.config.study import digest as digest
from suite.config.study import load as load
from suite.config.study import resolve as resolve
from suite.config.study import resolve_variant as resolve_variant
from suite.config.study import runs as runs
from suite.config.study import settings_on as settings_on
from suite.config.study import universes as universes
from suite.config.study import variant_runs as variant_runs
from suite.config.study import variants as variants
