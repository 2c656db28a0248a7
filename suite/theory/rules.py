"""Rules on the paper's theory: both sides of a statement are computed, so they need no runs.

Each function yields its findings; its arguments are the parameters that claims.yaml gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, wraps
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from powr.tabular import TabularMDP
from suite.config.models import Block, Count
from suite.theory import counterexamples, estimation, inexact_pmd, sobolev

IDENTITY_CHECKED = "identity checked"  # the code computes what the formula says
NO_VIOLATION = "no violation found"  # of a bound, tried where it could fail
HOLDS_IN_O_FORM = "holds in O-form"  # a step of its proof fails; another gives the same order
HYPOTHESIS_TOO_WEAK = "hypothesis too weak"  # false as printed; the case that the paper uses stands
MISPRINT = "misprint"  # what is meant is plain, and nothing depends on it
REFUTED = "refuted"  # by a counterexample
OPEN = "open"


class Finding(NamedTuple):
    """One number that a verdict rests on."""

    subject: str
    statistic: str
    estimate: float
    low: float = math.nan
    high: float = math.nan
    supports: bool = True


class Outcome(NamedTuple):
    verdict: str
    findings: Sequence[Finding]


class TableEnvironment(Block):
    """An environment with a transition table."""

    id: str
    kwargs: dict[str, Any]


Gamma = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
AtLeastTwo = Annotated[int, Field(ge=2)]
Tables = Annotated[list[TableEnvironment], Field(min_length=1)]
Counts = Annotated[list[Count], Field(min_length=1)]
Positives = Annotated[list[Positive], Field(min_length=1)]

Rule = Callable[..., Outcome]
RULES: dict[str, Rule] = {}


def theorem(verdict: str) -> Callable[[Callable[..., Iterator[Finding]]], Rule]:
    """Make a rule of a function that yields findings: the verdict, or refuted if one is against."""

    def decorate(compute: Callable[..., Iterator[Finding]]) -> Rule:
        @wraps(compute)
        def rule(**parameters: Any) -> Outcome:
            findings = list(compute(**parameters))
            supported = all(finding.supports for finding in findings)
            return Outcome(verdict if supported else REFUTED, findings)

        RULES[compute.__name__] = rule
        return rule

    return decorate


def tabular_mdps(models: Iterable[TableEnvironment]) -> Iterator[tuple[str, TabularMDP]]:
    for model in models:
        settings = ", ".join(f"{key}={value}" for key, value in model.kwargs.items())
        env = gymnasium.make(model.id, **model.kwargs)
        yield f"{model.id}({settings})", TabularMDP.from_env(env)


def identity(
    subject: str, errors: Iterable[float], tolerance: float, has_hypothesis: bool = True
) -> Finding:
    """It holds and, so that the check can be seen to fail, does not hold without its hypothesis."""
    if has_hypothesis:
        error = max(errors)
        return Finding(subject, "largest relative error", error, supports=error <= tolerance)
    error, statistic = min(errors), "smallest relative error, without the hypothesis"
    return Finding(subject, statistic, error, supports=error > tolerance)


@theorem(IDENTITY_CHECKED)
def closed_form(
    models: Tables, gamma: Gamma, regularization: Positive, tolerance: Positive
) -> Iterator[Finding]:
    """Prop. 3 equals exact policy evaluation on finite models."""
    for name, mdp in tabular_mdps(models):
        error = estimation.closed_form_error(mdp, gamma, regularization)
        yield identity(name, [error], tolerance)


@theorem(IDENTITY_CHECKED)
def simulation_identity(
    models: Tables, gamma: Gamma, sizes: Counts, seeds: Count, tolerance: Positive
) -> Iterator[Finding]:
    """Cor. A.7, its sign corrected: the error of the action values from that of the model."""
    for (name, mdp), n in product(tabular_mdps(models), sizes):
        policy = estimation.uniform_policy(mdp)
        fitted = (estimation.tabular_model(mdp, n, seed) for seed in range(seeds))
        errors = (estimation.identity_error(mdp, model, policy, gamma) for model in fitted)
        yield identity(f"{name}, {n:,} transitions", errors, tolerance)


@theorem(IDENTITY_CHECKED)
def mean_embedding(seeds: Count, tolerance: Positive) -> Iterator[Finding]:
    """Prop. 2 where Asm. 1 holds, and beside it MDPs where it does not."""
    for name, is_linear in (("linear MDPs", True), ("other MDPs", False)):
        errors = [estimation.embedding_errors(seed, is_linear) for seed in range(seeds)]
        for what, by_seed in zip(("Eq. (9)", "adjoints"), zip(*errors, strict=True), strict=True):
            yield identity(f"{name}: {what}", by_seed, tolerance, is_linear)


@theorem(IDENTITY_CHECKED)
def separable_spaces(seeds: Count, tolerance: Positive) -> Iterator[Finding]:
    """Prop. 4: averages over a compatible policy lie in F; beside it one that is not compatible."""
    for name, is_compatible in (("policies in H", True), ("policies outside H", False)):
        errors = (estimation.averaging_error(seed, is_compatible) for seed in range(seeds))
        yield identity(name, errors, tolerance, is_compatible)


def as_printed(
    example: Literal[tuple(counterexamples.COUNTEREXAMPLES)],  # type: ignore[valid-type]
    if_it_fails: Literal[HOLDS_IN_O_FORM, HYPOTHESIS_TOO_WEAK, MISPRINT, REFUTED],  # type: ignore[valid-type]
) -> Outcome:
    """A printed statement, or a step of a proof, in its smallest critical case."""
    case = counterexamples.COUNTEREXAMPLES[example]()
    findings = [
        Finding(each.what, f"to be at most {each.right:.3g}", each.left, supports=each.holds)
        for each in case
        if each
    ]
    if case.printed.holds:
        return Outcome(NO_VIOLATION, findings)
    is_correctable = case.corrected is None or case.corrected.holds
    return Outcome(if_it_fails if is_correctable else REFUTED, findings)


RULES[as_printed.__name__] = as_printed


Kind = Literal["none", "fixed", "fixed but for the last", "falling like 1/t"]
# Kinds of errors, by the step and the number of steps, as factors of their size.
ERRORS: dict[Kind, Callable[[int, int], float]] = {
    "none": lambda step, steps: 0.0,
    "fixed": lambda step, steps: 1.0,
    "fixed but for the last": lambda step, steps: float(step < steps),
    "falling like 1/t": lambda step, steps: 1 / (step + 1),
}


@theorem(NO_VIOLATION)
def descent_bound(
    gammas: Annotated[list[Gamma], Field(min_length=1)],
    actions: Counts,
    gaps: Positives,  # between the best action and the others
    errors: Annotated[list[Kind], Field(min_length=1)],
    sizes: Positives,  # of the errors, in units of the gap
    step_size: Positive,
    steps: Count,
) -> Iterator[Finding]:
    """Thm. 7 with the constants of its proof, on bandits where the bound is close."""
    for gamma, kind in product(gammas, errors):
        ratios = []
        for n_actions, gap, size in product(actions, gaps, sizes if kind != "none" else [0.0]):
            mdp = inexact_pmd.bandit(n_actions, gap)
            by_step = [size * gap * ERRORS[kind](step, steps) for step in range(steps + 1)]
            misled = inexact_pmd.misled(mdp, gamma, by_step.__getitem__)
            descent = inexact_pmd.descend(
                mdp, misled, gamma=gamma, step_size=step_size, steps=steps
            )
            ratios.append(float((descent.gaps / descent.printed_bounds).max()))
        subject, statistic = f"gamma {gamma:g}, error {kind}", "largest gap over its bound"
        yield Finding(subject, statistic, max(ratios), supports=max(ratios) <= 1)


@theorem(OPEN)
def main_result(
    models: Tables,
    gamma: Gamma,
    step_size: Positive,
    steps: Count,
    sizes: Annotated[list[Count], Field(min_length=2, max_length=2)],  # few transitions, and many
    seeds: AtLeastTwo,
) -> Iterator[Finding]:
    """Thm. 9 on tables. Elsewhere its proof is incomplete, so numbers can at best leave it open."""

    def last_gap(mdp: TabularMDP, n: int, seed: int) -> float:
        model = estimation.tabular_model(mdp, n, seed)

        def estimate(step: int, policy: NDArray, exact: NDArray) -> NDArray:
            return estimation.action_values(model, policy, gamma)

        descent = inexact_pmd.descend(mdp, estimate, gamma=gamma, step_size=step_size, steps=steps)
        return descent.gaps[-1]

    (few, many), rate = sizes, estimation.TABULAR_RATE
    statistic = f"growth of the last gap times n^{rate:g}, at most, from {few:,} to {many:,}"
    for name, mdp in tabular_mdps(models):
        few_gaps, many_gaps = (
            estimation.mean_estimate([last_gap(mdp, n, seed) for seed in range(seeds)])
            for n in sizes
        )
        low, high = few_gaps.interval.low, many_gaps.interval.high
        # Noise widens both intervals, so it cannot make the growth small.
        growth = high / low * (many / few) ** rate if low > 0 else np.inf
        yield Finding(name, f"{statistic} transitions", growth, supports=growth <= 1)


@theorem(NO_VIOLATION)
def estimation_rate(
    models: Tables,
    gamma: Gamma,
    sizes: Annotated[list[Count], Field(min_length=2)],
    seeds: AtLeastTwo,
) -> Iterator[Finding]:
    """Prop. C.2: the error falls with n no more slowly than guaranteed, by the whole interval."""
    measures = [
        (name, partial(estimation.tabular_error, mdp, gamma), estimation.TABULAR_RATE)
        for name, mdp in tabular_mdps(models)
    ]
    continuous = partial(estimation.continuous_error, gamma)
    measures.append(("a continuous MDP", continuous, estimation.CONTINUOUS_RATE))
    for name, measure, rate in measures:
        errors = [[measure(n, seed) for n in sizes] for seed in range(seeds)]
        fitted = estimation.fitted_exponent(np.array(sizes), np.array(errors))
        statistic = f"fitted exponent, to be at least {rate:g}"
        low, high = fitted.interval
        yield Finding(name, statistic, fitted.value, low, high, supports=low >= rate)


@theorem(NO_VIOLATION)
def sobolev_membership(
    gamma: Gamma,
    bandwidth: Positive,
    regularization: Positive,
    step_size: Positive,
    steps: Count,
    sizes: Counts,
    seeds: Count,
    settles: Positive,  # growth of the squared norm of a function in the space, at most
    diverges: Positive,  # and of one outside, at least
) -> Iterator[Finding]:
    """Cor. 6 on a line: the norm of a policy settles as the grid is refined, a jump's does not."""
    setting = sobolev.Setting(gamma, regularization, step_size, steps)
    statistic = "growth of the squared norm on a grid four times as fine"
    for n in sizes:
        growths = [sobolev.growth_of_policies(bandwidth, n, seed, setting) for seed in range(seeds)]
        largest, smallest = float(np.max(growths, axis=0)[0]), float(np.min(growths, axis=0)[1])
        subject = f"{n} transitions, policy of Algorithm 1, largest"
        yield Finding(subject, statistic, largest, supports=largest <= settles)
        # The check can fail: the greedy policy of the same action values is not in the space.
        subject = f"{n} transitions, greedy policy, smallest"
        yield Finding(subject, statistic, smallest, supports=smallest >= diverges)
