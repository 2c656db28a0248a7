"""The rules that decide claims about theorems: they need no runs, both sides are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

import gymnasium
import numpy as np
from pydantic import Field

from powr.kernels import Exponential
from powr.tabular import TabularMDP
from suite.claims.typed import Count, Gamma, Positive, Strict
from suite.claims.verdicts import Data, Finding, Outcome, Parameters, Rule, graded
from suite.theory import (
    compatibility,
    counterexamples,
    estimation,
    inexact_pmd,
    models,
    operators,
)
from suite.theory.closed_form import closed_form_error, model_of_table

ROUNDING = 1e-9
GAP_OVER_BOUND = "largest gap over its bound"


class Table(Strict):
    """An environment with a transition table."""

    id: str
    kwargs: dict[str, Any]


class OnTables(Parameters):
    models: list[Table] = Field(min_length=1)
    gamma: Gamma


class Exactness(OnTables):
    regularization: Positive
    tolerance: Positive


def closed_form(data: Data, parameters: Exactness, level: float) -> Outcome:
    """Prop. 3 equals exact policy evaluation on finite models."""
    given = {"gamma": parameters.gamma, "regularization": parameters.regularization}
    return _exact(parameters, lambda mdp: closed_form_error(mdp, **given))


class Convergence(OnTables):
    regularization: Positive
    step_size: Positive
    steps: int = Field(ge=20)


def convergence(data: Data, parameters: Convergence, level: float) -> Outcome:
    """Mirror descent in the world model keeps the bound of Thm. 7 and its rate 1/T."""
    findings, bounded = [], []
    for name, mdp in _models(parameters):
        gamma, model = parameters.gamma, model_of_table(mdp, parameters.regularization)
        descent = inexact_pmd.descend(
            mdp,
            inexact_pmd.modelled(model, gamma),
            gamma=gamma,
            step_size=parameters.step_size,
            steps=parameters.steps,
        )
        bounded.append(bool((descent.gaps <= descent.printed_bounds).all()))
        statistic = "slope of log gap over log steps, the gap "
        statistic += "below its bound" if bounded[-1] else "ABOVE ITS BOUND"
        supports = bounded[-1] and descent.rate <= -1
        findings.append(Finding(name, statistic, descent.rate, supports=supports))
    return graded(findings, partly=all(bounded))


class InexactConvergence(OnTables):
    random_models: int = Field(ge=0)
    error: Positive
    step_size: Positive
    steps: int = Field(ge=100)


def inexact_convergence(data: Data, parameters: InexactConvergence, level: float) -> Outcome:
    """Thm. 7 with errors against the optimal actions: its bound, and log T / T where they fall."""
    gamma, steps = parameters.gamma, parameters.steps
    findings = []
    for name, mdp in [*_models(parameters), *_random_models(parameters)]:
        largest = parameters.error * np.abs(mdp.optimal_action_values(gamma)).max()
        for kind, power in (("fixed", 0), ("falling", 1)):
            descent = inexact_pmd.descend(
                mdp,
                inexact_pmd.misled(mdp, gamma, partial(_error, largest, power)),
                gamma=gamma,
                step_size=parameters.step_size,
                steps=steps,
            )
            ratio = float((descent.gaps / descent.printed_bounds).max())
            subject = f"{name}: {kind} error"
            findings.append(Finding(subject, GAP_OVER_BOUND, ratio, supports=ratio <= 1))
            if kind == "falling":
                findings.append(_decay(subject, descent.gaps))
    bounded = all(each.supports for each in findings if each.statistic == GAP_OVER_BOUND)
    return graded(findings, partly=bounded)


def _error(largest: float, power: int, step: int) -> float:
    return largest / (step + 1) ** power


def _decay(subject: str, gaps: np.ndarray) -> Finding:
    """gap T / log T at the end over the same at a tenth of the steps; 0 for a gap of rounding."""
    late, early = len(gaps), len(gaps) // 10
    growth = 0.0
    if gaps[-1] > inexact_pmd.ROUNDING * gaps[0]:
        growth = float(gaps[late - 1] / gaps[early - 1] * 10 * np.log(early) / np.log(late))
    statistic = "growth of gap T / log T over the last decade"
    return Finding(subject, statistic, growth, supports=growth <= 1)


class SimulationBound(OnTables):
    random_models: int = Field(ge=0)
    sizes: list[Count] = Field(min_length=1)
    seeds: Count


def simulation_bound(data: Data, parameters: SimulationBound, level: float) -> Outcome:
    """Cor. A.7: no error of estimated action values exceeds its bound in the uniform norm."""
    findings = []
    for name, mdp in [*_models(parameters), *_random_models(parameters)]:
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
    measures: dict[str, Callable[[int, int], float]] = {
        name: partial(estimation.tabular_error, mdp, gamma) for name, mdp in _models(parameters)
    }
    rates = dict.fromkeys(measures, estimation.TABULAR_RATE)
    measures["a continuous MDP"] = partial(estimation.continuous_error, gamma)
    rates["a continuous MDP"] = estimation.CONTINUOUS_RATE
    findings = []
    for name, measure in measures.items():
        errors = [[measure(int(n), seed) for n in sizes] for seed in range(parameters.seeds)]
        fitted = estimation.fitted_exponent(sizes, np.array(errors))
        statistic = f"fitted exponent, {rates[name]:g} guaranteed"
        supports = fitted.interval.high >= rates[name]
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
    gamma, findings = parameters.gamma, []
    for n in parameters.sizes:
        outcomes = [
            compatibility.behaviour(
                Exponential(parameters.bandwidth),
                n,
                seed,
                gamma=gamma,
                regularization=parameters.regularization,
                step_size=parameters.step_size,
                steps=parameters.steps,
            )
            for seed in range(parameters.seeds)
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


class MainResult(OnTables):
    random_models: int = Field(ge=0)
    step_size: Positive
    steps: Count
    sizes: list[Count] = Field(min_length=2)
    seeds: Count


def main_result(data: Data, parameters: MainResult, level: float) -> Outcome:
    """Thm. 9: what Algorithm 1 lacks to the optimum in the world model of n transitions."""
    findings = []
    for name, mdp in [*_models(parameters), *_random_models(parameters)]:
        descents = {
            n: [_descend_in_estimate(mdp, parameters, n, seed) for seed in range(parameters.seeds)]
            for n in parameters.sizes
        }
        ratio = max(
            float((each.gaps / each.printed_bounds).max())
            for of in descents.values()
            for each in of
        )
        findings.append(Finding(name, GAP_OVER_BOUND, ratio, supports=ratio <= 1))
        lacking = {n: float(np.mean([each.gaps[-1] for each in of])) for n, of in descents.items()}
        findings.append(_fall_with_data(name, lacking))
    bounded = all(each.supports for each in findings if each.statistic == GAP_OVER_BOUND)
    return graded(findings, partly=bounded)


def _descend_in_estimate(
    mdp: TabularMDP, parameters: MainResult, n: int, seed: int
) -> inexact_pmd.Descent:
    return inexact_pmd.descend(
        mdp,
        inexact_pmd.modelled(estimation.tabular_model(mdp, n, seed), parameters.gamma),
        gamma=parameters.gamma,
        step_size=parameters.step_size,
        steps=parameters.steps,
    )


def _fall_with_data(name: str, lacking: Mapping[int, float]) -> Finding:
    """gap n^alpha with the most transitions over the same with the fewest, at the rate alpha."""
    fewest, most = min(lacking), max(lacking)
    growth = 0.0
    if lacking[most] > inexact_pmd.ROUNDING:
        growth = lacking[most] / lacking[fewest] * (most / fewest) ** estimation.TABULAR_RATE
    statistic = f"growth of the last gap times n^{estimation.TABULAR_RATE:g}, "
    statistic += f"from {fewest:,} to {most:,} transitions"
    return Finding(name, statistic, growth, supports=growth <= 1)


def mean_embedding(data: Data, parameters: Exactness, level: float) -> Outcome:
    """Prop. 2: the adjoint sends the features of a pair to the mean of those of the next state."""
    return _exact(parameters, lambda mdp: operators.embedding_error(mdp, parameters.regularization))


class SeparableSpaces(Parameters):
    seeds: Count
    tolerance: Positive


def separable_spaces(data: Data, parameters: SeparableSpaces, level: float) -> Outcome:
    """Prop. 4: averages over a compatible policy lie in F; beside it one that is not compatible."""
    largest = {
        make: max(
            operators.distance_to_products(*make(seed), seed) for seed in range(parameters.seeds)
        )
        for make in (operators.compatible_policy, operators.incompatible_policy)
    }
    inside, outside = largest.values()
    statistic = "largest relative distance of P g to F"
    return graded(
        [
            Finding("policies in H", statistic, inside, supports=inside <= parameters.tolerance),
            # The check can fail: without its hypothesis the conclusion does not hold.
            Finding(
                "policies outside H", statistic, outside, supports=outside > parameters.tolerance
            ),
        ]
    )


class AsPrinted(Parameters):
    examples: list[Literal[tuple(counterexamples.COUNTEREXAMPLES)]] = Field(  # type: ignore[valid-type]
        min_length=1
    )


def as_printed(data: Data, parameters: AsPrinted, level: float) -> Outcome:
    """A printed inequality holds in its smallest critical cases."""
    findings, repaired = [], True
    for name in parameters.examples:
        case = counterexamples.COUNTEREXAMPLES[name]()
        repaired &= case.left <= case.proven
        statistic = f"{case.what}, to be at most {case.printed:.3g}"
        supports = case.left <= case.printed
        findings.append(Finding(name.replace("_", " "), statistic, case.left, supports=supports))
    return graded(findings, partly=repaired)


THEORY_RULES: tuple[Rule, ...] = (
    closed_form,
    convergence,
    inexact_convergence,
    simulation_bound,
    estimation_rate,
    compatible_kernel,
    main_result,
    mean_embedding,
    separable_spaces,
    as_printed,
)


def _exact(parameters: Exactness, error_of: Callable[[TabularMDP], float]) -> Outcome:
    """Whether both sides of an equation agree to within the tolerance, model by model."""
    errors = {name: error_of(mdp) for name, mdp in _models(parameters)}
    return graded(
        [
            Finding(name, "largest relative error", error, supports=error <= parameters.tolerance)
            for name, error in errors.items()
        ]
    )


def _random_models(
    parameters: InexactConvergence | SimulationBound | MainResult,
) -> Iterator[tuple[str, TabularMDP]]:
    for seed in range(parameters.random_models):
        yield f"random MDP {seed}", models.random_mdp(seed)


def _models(parameters: OnTables) -> Iterator[tuple[str, TabularMDP]]:
    for model in parameters.models:
        settings = ", ".join(f"{key}={value}" for key, value in model.kwargs.items())
        env = gymnasium.make(model.id, **model.kwargs)
        yield f"{model.id}({settings})", TabularMDP.from_env(env)
