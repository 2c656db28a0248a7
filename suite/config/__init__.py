"""What envs.yaml says, checked, and the settings and names of the runs that follow from it."""

from suite.config.study import (
    ABLATIONS,
    SCHEMA,
    Run,
    Variant,
    check_schema,
    digest,
    load,
    read_yaml,
    resolve,
    resolve_variant,
    runs,
    variant_runs,
    variants,
)

__all__ = [
    "ABLATIONS",
    "SCHEMA",
    "Run",
    "Variant",
    "check_schema",
    "digest",
    "load",
    "read_yaml",
    "resolve",
    "resolve_variant",
    "runs",
    "variant_runs",
    "variants",
]
