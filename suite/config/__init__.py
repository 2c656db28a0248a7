"""What envs.yaml says, checked, and the settings and names of the runs that follow from it."""

from suite.config.reading import check_known, check_model, read_yaml
from suite.config.study import (
    ABLATIONS,
    MULTIVERSE,
    Run,
    Variant,
    digest,
    load,
    resolve,
    resolve_variant,
    runs,
    settings_on,
    universes,
    variant_runs,
    variants,
)

__all__ = [
    "ABLATIONS",
    "MULTIVERSE",
    "Run",
    "Variant",
    "check_known",
    "check_model",
    "digest",
    "load",
    "read_yaml",
    "resolve",
    "resolve_variant",
    "runs",
    "settings_on",
    "universes",
    "variant_runs",
    "variants",
]
