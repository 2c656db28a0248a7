"""Every rule about a theorem, both ways."""

import numpy as np
import pandas as pd
import pytest

from powr.kernels import Gaussian
from suite.claims import ledger
from suite.claims.rules import RULES, estimates
from suite.claims.verdicts import NOT_REPRODUCED, PARTLY, REPRODUCED, Data
from suite.theory import counterexamples, estimation, inexact_pmd, operators

LEVEL = 0.05
MODELS = [{"id": "FrozenLake-v1", "kwargs": {"is_slippery": True}}]
NO_DATA = Data(pd.DataFrame(), {}, {}, {})


def judge(rule, parameters):
    """The rule by its name, with its parameters as claims.yaml has them."""
    claim = {"id": "a-claim", "rule": rule, "parameters": parameters}
    return RULES[rule](NO_DATA, ledger.parameters_of(claim, "claims.yaml"), LEVEL)


CLOSED_FORM = {"models": MODELS, "gamma": 0.9, "regularization": 1e-12, "tolerance": 1e-6}


class TestClosedForm:
    def test_reproduced(self):
        outcome = judge("closed_form", CLOSED_FORM)
        assert outcome.verdict == REPRODUCED
        assert outcome.findings[0].subject == "FrozenLake-v1(is_slippery=True)"
        assert 0 < outcome.findings[0].estimate < 1e-6

    def test_not_reproduced_by_a_wrong_model(self):
        shrunk = {**CLOSED_FORM, "regularization": 1e-3}
        assert judge("closed_form", shrunk).verdict == NOT_REPRODUCED


DESCENT = {"models": MODELS, "gamma": 0.9, "step_size": 10.0, "steps": 100}
CONVERGENCE = {**DESCENT, "regularization": 1e-12}


class TestConvergence:
    def test_reproduced(self):
        outcome = judge("convergence", CONVERGENCE)
        assert outcome.verdict == REPRODUCED
        assert outcome.findings[0].estimate < -1

    def test_partly_where_the_rate_is_not_reached(self):
        slow = {**CONVERGENCE, "step_size": 1e-3}
        outcome = judge("convergence", slow)
        assert outcome.verdict == PARTLY
        assert outcome.findings[0].estimate > -1

    def test_not_reproduced_where_the_bound_breaks(self, monkeypatch):
        descend = inexact_pmd.descend

        def broken(*arguments, **options):
            descent = descend(*arguments, **options)
            return descent._replace(printed_bounds=np.zeros_like(descent.printed_bounds))

        monkeypatch.setattr(inexact_pmd, "descend", broken)
        outcome = judge("convergence", CONVERGENCE)
        assert outcome.verdict == NOT_REPRODUCED
        assert "ABOVE ITS BOUND" in outcome.findings[0].statistic

    def test_a_step_that_does_nothing_converges_to_nothing(self, monkeypatch):
        uniform = np.full((16, 4), 0.25)
        monkeypatch.setattr(inexact_pmd, "softmax", lambda exponents: uniform)
        assert judge("convergence", CONVERGENCE).verdict != REPRODUCED


INEXACT = {**DESCENT, "gamma": 0.8, "step_size": 30.0, "random_models": 1, "error": 0.01}


class TestInexactConvergence:
    def test_reproduced(self):
        outcome = judge("inexact_convergence", INEXACT)
        assert outcome.verdict == REPRODUCED
        subjects = [finding.subject for finding in outcome.findings]
        assert "random MDP 0: falling error" in subjects
        assert len(subjects) == 6  # two models, a bound for each kind of error, and one decay

    def test_partly_where_falling_errors_are_not_overcome(self):
        slow = {**INEXACT, "step_size": 1e-3}
        outcome = judge("inexact_convergence", slow)
        assert outcome.verdict == PARTLY
        assert [finding.supports for finding in outcome.findings].count(False) == 2

    def test_not_reproduced_where_the_bound_breaks(self, monkeypatch):
        monkeypatch.setattr(
            inexact_pmd, "printed_bounds", lambda errors, *_: np.full(len(errors) - 1, 1e-9)
        )
        outcome = judge("inexact_convergence", INEXACT)
        assert outcome.verdict == NOT_REPRODUCED


SIMULATION = {"models": MODELS, "random_models": 1, "gamma": 0.9, "sizes": [20, 200], "seeds": 2}


class TestSimulationBound:
    def test_reproduced(self):
        outcome = judge("simulation_bound", SIMULATION)
        assert outcome.verdict == REPRODUCED
        assert all(0 < finding.estimate < 1 for finding in outcome.findings)

    def test_not_reproduced_by_one_error_above_its_bound(self, monkeypatch):
        measure = estimation.tabular_error_and_bounds

        def larger(mdp, gamma, n, seed):
            error = measure(mdp, gamma, n, seed)
            return error._replace(measured=2 * error.bound) if (n, seed) == (200, 1) else error

        monkeypatch.setattr(estimation, "tabular_error_and_bounds", larger)
        outcome = judge("simulation_bound", SIMULATION)
        assert outcome.verdict == NOT_REPRODUCED
        assert [finding.estimate for finding in outcome.findings].count(2) == 2


RATE = {"models": MODELS, "gamma": 0.9, "sizes": [100, 400], "seeds": 3}


class TestEstimationRate:
    @pytest.mark.parametrize(
        ("tabular", "continuous", "verdict"),
        [
            (0.5, 0.3, REPRODUCED),
            (0.9, 0.9, REPRODUCED),
            (0.3, 0.3, NOT_REPRODUCED),
            (0.5, 0.1, NOT_REPRODUCED),
        ],
    )
    def test_verdict(self, monkeypatch, tabular, continuous, verdict):
        wobble = np.array([0.99, 1.0, 1.01])
        monkeypatch.setattr(
            estimation,
            "tabular_error",
            lambda mdp, gamma, n, seed: n ** (-tabular * wobble[seed]),
        )
        monkeypatch.setattr(
            estimation,
            "continuous_error",
            lambda gamma, n, seed: n ** (-continuous * wobble[seed]),
        )
        outcome = judge("estimation_rate", RATE)
        assert outcome.verdict == verdict
        assert outcome.findings[0].estimate == pytest.approx(tabular)
        assert outcome.findings[0].interval.low < tabular < outcome.findings[0].interval.high

    def test_measures_both_kinds_of_model(self):
        outcome = judge("estimation_rate", RATE)
        subjects = [finding.subject for finding in outcome.findings]
        assert subjects == ["FrozenLake-v1(is_slippery=True)", "a continuous MDP"]
        assert all(finding.estimate > 0 for finding in outcome.findings)


KERNEL = {
    "gamma": 0.9,
    "bandwidth": 0.5,
    "regularization": 1e-6,
    "step_size": 1.0,
    "steps": 5,
    "sizes": [25],
    "seeds": 3,
}


class TestCompatibleKernel:
    def test_reproduced(self):
        outcome = judge("compatible_kernel", KERNEL)
        assert outcome.verdict == REPRODUCED

    def test_not_reproduced_by_a_kernel_of_another_kind(self, monkeypatch):
        monkeypatch.setattr(estimates, "Exponential", lambda bandwidth: Gaussian(0.1))
        outcome = judge("compatible_kernel", KERNEL)
        assert outcome.verdict == NOT_REPRODUCED


class TestAsPrinted:
    @pytest.mark.parametrize(
        ("left", "verdict"), [(0.5, REPRODUCED), (1.5, PARTLY), (2.5, NOT_REPRODUCED)]
    )
    def test_verdict(self, monkeypatch, left, verdict):
        case = counterexamples.Inequality("a number", left, printed=1.0, proven=2.0)
        monkeypatch.setattr(counterexamples, "COUNTEREXAMPLES", {"simulation_lemma": lambda: case})
        outcome = judge("as_printed", {"examples": ["simulation_lemma"]})
        assert outcome.verdict == verdict
        assert outcome.findings[0].statistic == "a number, to be at most 1"

    def test_nothing_can_be_proven_in_its_place(self, monkeypatch):
        case = counterexamples.Inequality("a number", 1.5, printed=1.0, proven=np.nan)
        monkeypatch.setattr(counterexamples, "COUNTEREXAMPLES", {"simulation_lemma": lambda: case})
        outcome = judge("as_printed", {"examples": ["simulation_lemma"]})
        assert outcome.verdict == NOT_REPRODUCED


MAIN_RESULT = {
    "models": MODELS,
    "random_models": 1,
    "gamma": 0.9,
    "step_size": 10.0,
    "steps": 150,  # enough that what is left of 1/T does not hide the fall with n
    "sizes": [400, 6400],
    "seeds": 5,
}


class TestMainResult:
    def test_reproduced(self):
        outcome = judge("main_result", MAIN_RESULT)
        assert outcome.verdict == REPRODUCED
        bounds, falls = outcome.findings[::2], outcome.findings[1::2]
        assert all(0 < finding.estimate <= 1 for finding in bounds)
        assert all(finding.estimate <= 1 for finding in falls)

    def test_partly_where_more_data_does_not_help(self):
        """Fewer steps than the policy needs: the gap is mirror descent's, whatever the data."""
        outcome = judge("main_result", {**MAIN_RESULT, "step_size": 1e-6, "steps": 2})
        assert outcome.verdict == PARTLY
        assert outcome.findings[1].estimate > 1

    def test_not_reproduced_where_the_bound_breaks(self, monkeypatch):
        monkeypatch.setattr(inexact_pmd, "printed_bounds", lambda errors, *_: 0 * errors[1:] + 1e-9)
        assert judge("main_result", MAIN_RESULT).verdict == NOT_REPRODUCED


EMBEDDING = {"models": MODELS, "gamma": 0.9, "regularization": 1e-12, "tolerance": 1e-6}


class TestMeanEmbedding:
    def test_reproduced(self):
        outcome = judge("mean_embedding", EMBEDDING)
        assert outcome.verdict == REPRODUCED
        assert outcome.findings[0].estimate < 1e-6

    def test_not_reproduced_by_a_shrunk_model(self):
        shrunk = {**EMBEDDING, "regularization": 1e-3}
        assert judge("mean_embedding", shrunk).verdict == NOT_REPRODUCED


class TestSeparableSpaces:
    def test_reproduced(self):
        inside, outside = judge("separable_spaces", {"seeds": 3, "tolerance": 1e-9}).findings
        assert (inside.supports, outside.supports) == (True, True)
        assert inside.estimate < 1e-9 < 1e-3 < outside.estimate

    def test_a_check_that_lets_everything_through_is_no_evidence(self):
        outcome = judge("separable_spaces", {"seeds": 3, "tolerance": 10.0})
        assert outcome.verdict == NOT_REPRODUCED

    def test_policies_are_policies(self):
        for make in (operators.compatible_policy, operators.incompatible_policy):
            _, policy = make(0)
            assert (policy >= 0).all()
            np.testing.assert_allclose(policy.sum(axis=1), 1)


def test_a_markov_operator_that_is_no_policy_operator():
    outcome = judge("as_printed", {"examples": ["markov_operator"]})
    assert outcome.verdict == NOT_REPRODUCED
    assert outcome.findings[0].estimate == 2
