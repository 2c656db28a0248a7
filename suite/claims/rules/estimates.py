"""Rules on estimated action values: how their errors fall, and which space they stay in."""

from functools import partial

import numpy as np
from pydantic import Field

from suite.claims.rules.finite_models import OnTables
from suite.claims.typed import Gamma, Positive
from suite.claims.verdicts import NO_VIOLATION, REFUTED, Data, Finding, Outcome, Parameters, Rule
from suite.config.models import Count
from suite.theory import compatibility, estimation


class EstimationRate(OnTables):
    sizes: list[Count] = Field(min_length=2)
    seeds: int = Field(ge=2)


def estimation_rate(data: Data, parameters: EstimationRate, level: float) -> Outcome:
    """Prop. C.2: the error falls with n no more slowly than guaranteed, by the whole interval."""
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
        statistic = f"fitted exponent, to be at least {rate:g}"
        supports = fitted.interval.low >= rate
        findings.append(Finding(name, statistic, *fitted, supports=supports))
    return Outcome(NO_VIOLATION if all(each.supports for each in findings) else REFUTED, findings)


class SobolevMembership(Parameters):
    gamma: Gamma
    bandwidth: Positive
    regularization: Positive
    step_size: Positive
    steps: Count
    sizes: list[Count] = Field(min_length=1)
    seeds: Count
    settles: Positive  # growth of the squared norm of a function in the space, at most
    diverges: Positive  # and of one outside, at least


def sobolev_membership(data: Data, parameters: SobolevMembership, level: float) -> Outcome:
    """Cor. 6 on a line: the norm of a policy settles as the grid is refined, a jump's does not."""
    given = parameters.model_dump(include=set(compatibility.Setting._fields))
    setting = compatibility.Setting(**given)
    statistic = "growth of the squared norm on a grid four times as fine"
    findings = []
    for n in parameters.sizes:
        growths = [
            compatibility.norm_growth(parameters.bandwidth, n, seed, setting)
            for seed in range(parameters.seeds)
        ]
        policy = max(growth.policy for growth in growths)
        jump = min(growth.greedy for growth in growths)
        findings += [
            Finding(
                f"{n} transitions, policy of Algorithm 1, largest",
                statistic,
                policy,
                supports=policy <= parameters.settles,
            ),
            # The check can fail: the greedy policy of the same action values is not in the space.
            Finding(
                f"{n} transitions, greedy policy, smallest",
                statistic,
                jump,
                supports=jump >= parameters.diverges,
            ),
        ]
    return Outcome(NO_VIOLATION if all(each.supports for each in findings) else REFUTED, findings)


RULES: tuple[Rule, ...] = (estimation_rate, sobolev_membership)
