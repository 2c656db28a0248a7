"""Every rule about a theorem, both ways."""

from functools import partial

import numpy as np
import pytest

from suite.claims import document
from suite.theory import counterexamples, estimation, inexact_pmd, sobolev
from suite.theory.counterexamples import Example, Inequality
from suite.theory.rules import (
    HOLDS_IN_O_FORM,
    IDENTITY_CHECKED,
    MISPRINT,
    NO_VIOLATION,
    OPEN,
    REFUTED,
)
from tests.support.run_files import ROOT

THEOREMS = document.load(ROOT / "claims.yaml").theory
BY_RULE = {theorem.rule: theorem for theorem in THEOREMS}
ICE = [{"id": "FrozenLake-v1", "kwargs": {"is_slippery": True}}]


def judge(rule, **changes):
    """The rule by its name, with the parameters of claims.yaml but for these."""
    theorem = BY_RULE[rule]
    return theorem.model_copy(update={"parameters": theorem.parameters | changes}).judge()


def test_closed_form_is_checked_and_refuted_by_a_wrong_model():
    outcome = judge("closed_form", models=ICE, gamma=0.9)
    assert outcome.verdict == IDENTITY_CHECKED
    assert outcome.findings[0].subject == "FrozenLake-v1(is_slippery=True)"
    assert 0 < outcome.findings[0].estimate < 1e-6
    assert judge("closed_form", models=ICE, gamma=0.9, regularization=1e-3).verdict == REFUTED


def test_simulation_identity_is_checked_and_refuted_by_another_model(monkeypatch):
    outcome = judge("simulation_identity", sizes=[20, 200], seeds=2)
    assert outcome.verdict == IDENTITY_CHECKED
    assert len(outcome.findings) == 2
    estimated = estimation.transfer_estimate
    monkeypatch.setattr(estimation, "transfer_estimate", lambda *given: 0.99 * estimated(*given))
    assert judge("simulation_identity", sizes=[20, 200], seeds=2).verdict == REFUTED


@pytest.mark.parametrize("rule", ["mean_embedding", "separable_spaces"])
class TestOnFeatures:
    def test_checked(self, rule):
        outcome = judge(rule, seeds=3)
        assert outcome.verdict == IDENTITY_CHECKED
        half = len(outcome.findings) // 2
        assert all(finding.estimate < 1e-9 for finding in outcome.findings[:half])
        assert all(finding.estimate > 1e-3 for finding in outcome.findings[half:])

    def test_a_check_that_lets_everything_through_is_no_evidence(self, rule):
        assert judge(rule, seeds=3, tolerance=10.0).verdict == REFUTED


class TestDescentBound:
    judge = partial(
        judge,
        "descent_bound",
        gammas=[0.1],
        actions=[2],
        gaps=[0.02, 3.0],
        errors=["none", "fixed but for the last"],
        sizes=[0.51],
        steps=50,
    )

    def test_no_violation_and_how_far_from_one(self):
        outcome = self.judge()
        assert outcome.verdict == NO_VIOLATION
        kinds = [finding.subject.partition(", error ")[2] for finding in outcome.findings]
        assert kinds == ["none", "fixed but for the last"]
        assert all(0.3 < finding.estimate < 1 for finding in outcome.findings)

    def test_a_bound_a_few_times_smaller_is_refuted(self, monkeypatch):
        bounds = inexact_pmd.printed_bounds
        monkeypatch.setattr(inexact_pmd, "printed_bounds", lambda *given: bounds(*given) / 3)
        assert self.judge().verdict == REFUTED


class TestMainResult:
    def test_open_where_nothing_speaks_against_it(self):
        outcome = judge("main_result", seeds=10)
        assert outcome.verdict == OPEN
        assert 0 < outcome.findings[0].estimate <= 1

    def test_refuted_where_more_data_does_not_help(self):
        """Fewer steps than the policy needs: the gap is mirror descent's with any data."""
        outcome = judge("main_result", seeds=10, step_size=1e-6, steps=2)
        assert outcome.verdict == REFUTED
        assert outcome.findings[0].estimate == pytest.approx(16**0.25, rel=1e-3)


def power_law(rates, *given):
    """The errors of n transitions, which an error takes last but for the seed."""
    *_, n, seed = given
    return n ** -rates[seed]


class TestEstimationRate:
    @pytest.mark.parametrize(
        ("tabular", "continuous", "spread", "verdict"),
        [
            (0.5, 0.3, 0.01, NO_VIOLATION),
            (0.2, 0.3, 0.01, REFUTED),
            (0.5, 0.1, 0.01, REFUTED),
            (0.5, 0.3, 0.5, REFUTED),  # noise does not help
        ],
    )
    def test_verdict(self, monkeypatch, tabular, continuous, spread, verdict):
        wobble = np.array([1 - spread, 1.0, 1 + spread])
        for name, rate in {"tabular_error": tabular, "continuous_error": continuous}.items():
            monkeypatch.setattr(estimation, name, partial(power_law, rate * wobble))
        outcome = judge("estimation_rate", sizes=[100, 400], seeds=3)
        assert outcome.verdict == verdict
        assert outcome.findings[0].estimate == pytest.approx(tabular)


class TestSobolevMembership:
    def test_no_violation(self):
        outcome = judge("sobolev_membership", steps=5, sizes=[25], seeds=3)
        assert outcome.verdict == NO_VIOLATION
        policy, greedy = outcome.findings
        assert policy.estimate < 1.01
        assert greedy.estimate == pytest.approx(4, rel=0.01)

    def test_refuted_by_policies_that_jump(self, monkeypatch):
        monkeypatch.setattr(sobolev, "softmax", lambda values: (values > values[:, ::-1]) * 1.0)
        assert judge("sobolev_membership", steps=5, sizes=[25], seeds=3).verdict == REFUTED


@pytest.mark.parametrize(
    ("left", "corrected", "if_it_fails", "verdict"),
    [
        (0.5, 1.0, REFUTED, NO_VIOLATION),
        (1.5, 1.0, REFUTED, REFUTED),
        (1.5, None, HOLDS_IN_O_FORM, HOLDS_IN_O_FORM),
        (1.5, 1.0, MISPRINT, MISPRINT),
        (1.5, 3.0, MISPRINT, REFUTED),
    ],
)
def test_as_printed(monkeypatch, left, corrected, if_it_fails, verdict):
    repair = corrected and Inequality("another", corrected, 2.0)
    case = Example(Inequality("a number", left, 1.0), repair)
    monkeypatch.setattr(counterexamples, "COUNTEREXAMPLES", {"monotone_step": lambda: case})
    outcome = judge("as_printed", example="monotone_step", if_it_fails=if_it_fails)
    assert outcome.verdict == verdict
    assert len(outcome.findings) == (1 if corrected is None else 2)


@pytest.mark.parametrize("example", counterexamples.COUNTEREXAMPLES)
def test_every_example_fails_as_printed_and_holds_as_corrected(example):
    case = counterexamples.COUNTEREXAMPLES[example]()
    assert not case.printed.holds
    assert case.corrected is None or case.corrected.holds
