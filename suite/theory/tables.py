"""The tables of the figure `theory`, a few minutes on one core.

python -m suite theory --out-dir results/theory
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import gymnasium
import numpy as np
import pandas as pd
import threadpoolctl

from powr.kernels import Exponential, Gaussian
from powr.tabular import TabularMDP
from suite.command import make_parser, write_result
from suite.results.aggregate import to_csv
from suite.theory import estimation, inexact_pmd, sobolev

GAMMA = 0.9
SEEDS = 20
RELATIVE_ERROR = 0.02  # of the largest action value
ERRORS = {  # by their size and the step
    "exact": lambda size, step: 0.0,
    "fixed": lambda size, step: size,
    "decaying": lambda size, step: 10 * size / (step + 1),
}
STEPS = {"FrozenLake-v1": 10_000, "Taxi-v3": 1000, "random MDPs": 1000}
STEP_SIZES = {"FrozenLake-v1": 10.0, "Taxi-v3": 1.0, "random MDPs": 1.0}
SIZES = [100 * 4**k for k in range(6)]
CONTINUOUS_SIZES = SIZES[:-1]
FITTED_FROM = 1600  # from here on every pair of the tables has been seen
KERNELS = {  # and the regularization as a factor and a power of n
    "exponential, bandwidth 0.5": (Exponential(0.5), (1e-6, 0)),
    "exponential, falling ridge": (Exponential(0.5), estimation.CONTINUOUS_REGULARIZATION),
    "Gaussian, bandwidth 0.5": (Gaussian(0.5), (1e-6, 0)),
    "Gaussian, bandwidth 0.1": (Gaussian(0.1), (1e-6, 0)),
}
COMPATIBILITY_SIZES = [25, 50, 100, 200, 400]


def descents(steps: Mapping[str, int], instances: int) -> pd.DataFrame:
    """Gaps of mirror descent and their bounds at logarithmically spaced steps."""
    mdps = {
        "FrozenLake-v1": [estimation.frozen_lake()],
        "Taxi-v3": [TabularMDP.from_env(gymnasium.make("Taxi-v3"))],
        "random MDPs": [estimation.random_mdp(seed) for seed in range(instances)],
    }
    tables = []
    for name, made in mdps.items():
        shown = np.unique(np.geomspace(1, steps[name], 60).round().astype(int))
        for (instance, mdp), (kind, error) in product(enumerate(made), ERRORS.items()):
            size = RELATIVE_ERROR * np.abs(mdp.optimal_action_values(GAMMA)).max()
            misled = inexact_pmd.misled(mdp, GAMMA, partial(error, size))
            descent = inexact_pmd.descend(
                mdp, misled, gamma=GAMMA, step_size=STEP_SIZES[name], steps=steps[name]
            )
            table = pd.DataFrame(descent._asdict()).iloc[shown - 1]
            tables.append(table.assign(model=name, errors=kind, instance=instance, step=shown))
    return pd.concat(tables)[["model", "errors", "instance", "step", *inexact_pmd.Descent._fields]]


def estimation_errors(seeds: int) -> pd.DataFrame:
    """Errors of action values from n transitions; bounds where the model is finite."""
    rows = []
    for name, mdp in (
        ("FrozenLake-v1", estimation.frozen_lake()),
        ("random", estimation.random_mdp(0)),
    ):
        policy = estimation.uniform_policy(mdp)
        for n, seed in product(SIZES, range(seeds)):
            model = estimation.tabular_model(mdp, n, seed)
            rows.append((name, n, seed, *estimation.error_and_bounds(mdp, model, policy, GAMMA)))
    for n, seed in product(CONTINUOUS_SIZES, range(seeds)):
        error = estimation.continuous_error(GAMMA, n, seed)
        rows.append(("continuous", n, seed, error, np.nan, np.nan))
    return pd.DataFrame(rows, columns=["model", "n", "seed", "error", "bound", "loose_bound"])


def exponents(errors: pd.DataFrame) -> pd.DataFrame:
    """The fitted exponent of each model beside the one the paper guarantees."""
    rows = []
    for name, group in errors[errors["n"] >= FITTED_FROM].groupby("model", sort=False):
        by_seed = group.pivot(index="seed", columns="n", values="error")
        fitted = estimation.fitted_exponent(by_seed.columns.to_numpy(), by_seed.to_numpy())
        guaranteed = estimation.CONTINUOUS_RATE if name == "continuous" else estimation.TABULAR_RATE
        rows.append((name, fitted.value, *fitted.interval, guaranteed))
    return pd.DataFrame(rows, columns=["model", "exponent", "low", "high", "guaranteed"])


def behaviours(seeds: int) -> pd.DataFrame:
    """Error of the action values and norm of T_n, by kernel and number of transitions."""
    rows = []
    for (name, (kernel, (factor, power))), n in product(KERNELS.items(), COMPATIBILITY_SIZES):
        setting = sobolev.Setting(GAMMA, factor * n**power, step_size=1.0, steps=40)
        rows += [
            (name, n, seed, *sobolev.error_and_norm(kernel, n, seed, setting))
            for seed in range(seeds)
        ]
    return pd.DataFrame(rows, columns=["kernel", "n", "seed", "error", "norm"])


def compute() -> dict[str, pd.DataFrame]:
    errors = estimation_errors(SEEDS)
    return {
        "inexact_pmd": descents(STEPS, SEEDS),
        "estimation": errors,
        "exponents": exponents(errors),
        "compatibility": behaviours(SEEDS),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser("theory", __doc__)
    parser.add_argument(
        "--out-dir", type=Path, default=Path("results/theory"), help="default: %(default)s"
    )
    options = parser.parse_args(arguments)

    def make() -> dict[Path, str]:
        with threadpoolctl.threadpool_limits(1):
            tables = compute()
        return {options.out_dir / f"{name}.csv": to_csv(table) for name, table in tables.items()}

    return write_result(parser.prog, make)
