"""Rules on the errors of estimated action values: their bounds, and how they fall with data."""

from functools import partial

import numpy as np
from pydantic import Field

from powr.kernels import Exponential
from suite.claims.rules.finite_models import OnTables, WithRandomModels
from suite.claims.typed import Gamma, Positive
from suite.claims.verdicts import Data, Finding, Outcome, Parameters, Rule, graded
from suite.config.models import Count
from suite.theory import compatibility, estimation

ROUNDING = 1e-9


class SimulationBound(WithRandomModels):
    sizes: list[Count] = Field(min_length=1)
    seeds: Count


def simulation_bound(data: Data, parameters: SimulationBound, level: float) -> Outcome:
    """Cor. A.7: no error of estimated action values exceeds its bound in the uniform norm."""
    findings = []
    for name, mdp in parameters.mdps():
        for n in parameters.sizes:
            errors = [
                estimation.tabular_error_and_bounds(mdp, parameters.gamma, n, seed)
                for seed in range(parameters.seeds)
            ]
            ratio = max(error.measured / error.bound for error in errors)
            subject = f"{name}, {n:,} transitions"
            statistic = "largest error over its bound"
            findings.append(Finding(subject, statistic, ratio, supports=ratio <= 1))
    return graded(findings)


class EstimationRate(OnTables):
    sizes: list[Count] = Field(min_length=2)
    seeds: int = Field(ge=2)


def estimation_rate(data: Data, parameters: EstimationRate, level: float) -> Outcome:
    """Prop. C.2: the error falls with n no more slowly than guaranteed."""
    gamma, sizes = parameters.gamma, np.array(parameters.sizes)
    measures = [
        (name, partial(estimation.tabular_error, mdp, gamma), estimation.TABULAR_RATE)
        for name, mdp in parameters.mdps()
    ]
    continuous = partial(estimation.continuous_error, gamma)
    measures.append(("a continuous MDP", continuous, estimation.CONTINUOUS_RATE))
    findings = []
    for name, measure, rate in measures:
        errors = [[measure(int(n), seed) for n in sizes] for seed in range(parameters.seeds)]
        fitted = estimation.fitted_exponent(sizes, np.array(errors))
        statistic = f"fitted exponent, {rate:g} guaranteed"
        supports = fitted.interval.high >= rate
        findings.append(Finding(name, statistic, *fitted, supports=supports))
    return graded(findings)


class CompatibleKernel(Parameters):
    gamma: Gamma
    bandwidth: Positive
    regularization: Positive
    step_size: Positive
    steps: Count
    sizes: list[Count] = Field(min_length=1)
    seeds: Count


def compatible_kernel(data: Data, parameters: CompatibleKernel, level: float) -> Outcome:
    """Cor. 6 on a line: along mirror descent the Sobolev kernel's action values stay bounded."""
    given = parameters.model_dump(include={"gamma", "regularization", "step_size", "steps"})
    gamma, kernel, findings = parameters.gamma, Exponential(parameters.bandwidth), []
    for n in parameters.sizes:
        outcomes = [
            compatibility.behaviour(kernel, n, seed, **given) for seed in range(parameters.seeds)
        ]
        largest = {
            "largest norm of the estimated operator": max(each.norm for each in outcomes),
            "largest error, in units of 1/(1 - gamma)": (1 - gamma)
            * max(each.error for each in outcomes),
        }
        findings += [
            Finding(f"{n} transitions", statistic, value, supports=value <= 1 + ROUNDING)
            for statistic, value in largest.items()
        ]
    return graded(findings)


RULES: tuple[Rule, ...] = (simulation_bound, estimation_rate, compatible_kernel)
