"""Every rule, both ways: other data, another verdict."""

import math

import pandas as pd
import pytest

from suite.claims import ledger
from suite.claims.rules import RULES
from suite.claims.verdicts import NOT_REPRODUCED, NOT_TESTED, PARTLY, REPRODUCED, Data
from suite.results import arrivals

GRID = [100, 200, 400, 800, 1600, 3200, 6400, 12800]
LEVEL = 0.05


def evaluations(curves, exact=None):
    """Rows of runs; `curves`: (environment, algorithm) -> the means of each seed."""
    rows = [
        (environment, algorithm, seed, timestep, mean, (exact or {}).get(algorithm, mean))
        for (environment, algorithm), seeds in curves.items()
        for seed, means in enumerate(seeds)
        for timestep, mean in zip(GRID, means, strict=True)
    ]
    columns = ["environment", "algorithm", "seed", "timestep", "mean", "exact_return"]
    return pd.DataFrame(rows, columns=columns)


def data_of(curves, budget=GRID[-1], optimum=7.93):
    environments = {environment for environment, _ in curves}
    rows = evaluations(curves)
    return Data(
        rows,
        arrivals.tabulate(rows, {name: [1] for name in environments}),
        dict.fromkeys(curves, budget),
        dict.fromkeys(environments, optimum),
    )


def apply(rule, data, parameters, level=LEVEL):
    """The rule by its name, with its parameters as claims.yaml has them."""
    claim = {"id": "a-claim", "rule": rule, "parameters": parameters}
    return RULES[rule](data, ledger.parameters_of(claim, "claims.yaml"), level)


def verdict_of(*asked):
    return apply(*asked).verdict


def until(data, timestep):
    """The same data, where POWR was trained no longer than this."""
    rows = data.evaluations
    kept = (rows["algorithm"] != "powr") | (rows["timestep"] <= timestep)
    return data._replace(evaluations=rows[kept])


def arriving(at):
    """A curve that meets the threshold 1 from evaluation number `at` on; None: never."""
    return [float(at is not None and i >= at) for i in range(len(GRID))]


def compare(own, other, third=None):
    """Data of POWR and two others on one environment."""
    return data_of({("E", "powr"): own, ("E", "dqn"): other, ("E", "ppo"): third or other})


EARLY = [arriving(at) for at in (0, 0, 1, 1)]
LATE = [arriving(at) for at in (3, 4, 3, None)]
HALF = [arriving(at) for at in (0, 1, None, None)]
NEVER = [arriving(None)] * 4
MIXED = [arriving(at) for at in (0, 1, None, 0)]
SHAKY = [[0.0, 1.0] * 3 + [1.0, fall] for fall in (0.0, 0.1, 0.2, 0.3)]
STEADY = [[0.0, 0.5, 0.4] + [rise] * 5 for rise in (1.0, 1.1, 1.2, 1.3)]
STUCK = [[0.0, 0.1] * 4] * 4
ALIKE = [arriving(at) for at in (1, 1, 1, 1, 1, 1, 1)]
APART = [arriving(at) for at in (1, 5, 1, 5, 1, 5, 3)]
NOBODY = [arriving(None)] * 7

EARLIER = {"thresholds": {"E": 1}, "algorithm": "powr", "others": ["dqn", "ppo"]}
AREA = {**EARLIER, "margin": 0.1}
ALONE = {"thresholds": {"E": 1}, "algorithm": "powr"}
# Verdicts on POWR's runs and those of two others.
COMPARED = {
    ("earlier", REPRODUCED): [(EARLY, LATE, LATE), (EARLY, NEVER, NEVER)],
    ("earlier", PARTLY): [(EARLY, LATE, EARLY)],
    ("earlier", NOT_REPRODUCED): [(LATE, EARLY, EARLY), (EARLY,) * 3, (NEVER,) * 3],
    ("earlier", NOT_TESTED): [(EARLY[:2], LATE, LATE)],
    ("higher_area", REPRODUCED): [(EARLY, LATE, NEVER)],
    ("higher_area", PARTLY): [(EARLY, LATE, EARLY)],
    ("higher_area", NOT_REPRODUCED): [(LATE, EARLY, EARLY)],
    ("higher_area", NOT_TESTED): [(EARLY[:2], LATE, LATE)],
    ("less_stable", REPRODUCED): [(SHAKY, STEADY, STEADY)],
    ("less_stable", PARTLY): [(SHAKY, STEADY, SHAKY)],
    ("less_stable", NOT_REPRODUCED): [(STEADY, SHAKY, SHAKY)],
    ("less_stable", NOT_TESTED): [(SHAKY[:2], STEADY, STEADY), (SHAKY, STUCK, NEVER)],
    ("less_spread", REPRODUCED): [
        (ALIKE, APART, APART),
        (ALIKE, APART, NOBODY),
        (ALIKE[:4], APART[:4], APART[:4]),
    ],
    ("less_spread", PARTLY): [(ALIKE, APART, ALIKE)],
    ("less_spread", NOT_REPRODUCED): [
        (APART, ALIKE, ALIKE),
        ([*ALIKE[:6], arriving(None)], APART, APART),
    ],
    ("less_spread", NOT_TESTED): [(ALIKE, NOBODY, NOBODY), (ALIKE[:3], APART, APART)],
}
PARAMETERS = {"higher_area": AREA}


@pytest.mark.parametrize(("rule", "verdict"), COMPARED)
def test_verdict_of_a_comparison(rule, verdict):
    for curves in COMPARED[rule, verdict]:
        assert verdict_of(rule, compare(*curves), PARAMETERS.get(rule, EARLIER)) == verdict


def sampled(data, **curves):
    """The same runs, of which some algorithms recorded these returns of their sampled policy."""
    rows = data.evaluations.copy()
    rows["sampled_mean"] = math.nan
    for algorithm, seeds in curves.items():
        own = rows["algorithm"] == algorithm
        rows.loc[own, "sampled_mean"] = [mean for means in seeds for mean in means]
    return data._replace(evaluations=rows, arrivals=arrivals.tabulate(rows, {"E": [1]}))


class TestEarlier:
    def test_sampled_policies_are_compared_with_each_other_where_they_were_recorded(self):
        data = sampled(compare(EARLY, EARLY), powr=[arriving(2)] * 4, dqn=[arriving(4)] * 4)
        asked = {**EARLIER, "policy": "sampled"}
        dqn, ppo = apply("earlier", data, asked).findings
        assert dqn.statistic == "how many times later the other is, medians 400 and 1,600"
        assert ppo.statistic.endswith("medians 400 and 150, the other's policy deterministic")
        assert (dqn.supports, ppo.supports) == (True, False)
        # What a greedy algorithm samples is its exploration.
        dqn, _ = apply("earlier", data._replace(greedy=["dqn"]), asked).findings
        assert "medians 400 and 150" in dqn.statistic

    def test_nobody_is_earlier_than_the_first_evaluation_of_both(self):
        data = compare([arriving(0)] * 4, [arriving(1)] * 4)
        rows = data.evaluations
        late = data._replace(
            evaluations=rows[(rows["algorithm"] == "powr") | (rows["timestep"] > GRID[0])]
        )
        first, _ = apply("earlier", late, EARLIER).findings
        assert "medians 200 and 200" in first.statistic
        assert verdict_of("earlier", data, EARLIER) == REPRODUCED
        assert verdict_of("earlier", late, EARLIER) == NOT_REPRODUCED


class TestHigherArea:
    def test_looks_no_further_than_all_algorithms_were_trained(self):
        data = compare([[1.0] * 2 + [0.0] * 6] * 4, [[0.0] * 2 + [5.0] * 6] * 4)
        assert verdict_of("higher_area", data, AREA) == NOT_REPRODUCED
        early = until(data, 200)
        assert verdict_of("higher_area", early, AREA) == REPRODUCED

    def test_a_small_margin_is_not_enough(self):
        """0.05 of the way from 0 to the threshold 1, in every run."""
        data = compare([[0.0] + [0.55] * 7] * 4, [[0.0] + [0.5] * 7] * 4)
        first, _ = apply("higher_area", data, AREA).findings
        assert first.p_value <= LEVEL
        assert "of the way to the threshold" in first.statistic
        assert verdict_of("higher_area", data, AREA) == NOT_REPRODUCED
        assert verdict_of("higher_area", data, {**AREA, "margin": 0.04}) == REPRODUCED

    def test_sampled_policies_are_compared_with_each_other(self):
        asked = {**AREA, "policy": "sampled"}
        both = sampled(compare(LATE, EARLY), powr=EARLY, dqn=LATE, ppo=LATE)
        assert verdict_of("higher_area", both, asked) == REPRODUCED
        greedy = both._replace(greedy=["dqn"])
        assert verdict_of("higher_area", greedy, asked) == PARTLY
        one = sampled(compare(LATE, EARLY), powr=EARLY, dqn=LATE)
        outcome = apply("higher_area", one, asked)
        assert outcome.verdict == NOT_TESTED
        assert outcome.reason == "the other's sampled policy was not recorded"


class TestLessStable:
    def test_is_the_share_of_the_gains_that_is_lost_again(self):
        own = [[0.0, 1.0, 0.5, 2.0, 1.75, 1.75, 1.75, 1.75]] * 4
        first, _ = apply("less_stable", compare(own, STEADY), EARLIER).findings
        assert "medians 0.30" in first.statistic  # falls of 0.75, rises of 2.5

    def test_initial_stages_count_although_an_algorithm_has_not_learned_by_then(self):
        """SHAKY falls only before the first update of the others."""
        own = [[0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]] * 4
        data = compare(own, STEADY)._replace(first_updates={("E", "dqn"): 800, ("E", "ppo"): 800})
        assert verdict_of("less_stable", data, EARLIER) == REPRODUCED


@pytest.mark.parametrize(
    ("curve", "start", "verdict"),
    [
        ([0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0], 1, REPRODUCED),
        ([0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0], 1, NOT_REPRODUCED),
        ([1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5], 1, REPRODUCED),
        ([1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5], 200, NOT_REPRODUCED),
    ],
)
def test_falls_early(curve, start, verdict):
    data = data_of({("E", "powr"): [curve] * 4})
    assert verdict_of("falls_early", data, {**ALONE, "start": start}) == verdict


@pytest.mark.parametrize(
    ("first_arrivals", "verdict"),
    [((2, 3, 2, 3), REPRODUCED), ((2, 4, 2, 2), NOT_REPRODUCED), ((2, None, 2, 2), NOT_REPRODUCED)],
)
def test_within_a_factor(first_arrivals, verdict):
    data = data_of({("E", "powr"): [arriving(at) for at in first_arrivals]})
    assert verdict_of("within_a_factor", data, {**ALONE, "factor": 2}) == verdict


def test_registered_thresholds():
    asked = {"thresholds": {"FrozenLake-v1": 0.8, "MountainCar-v0": -110}}
    outcome = apply("registered_thresholds", None, asked)
    assert outcome.verdict == PARTLY
    assert [finding.estimate for finding in outcome.findings] == [0.7, -110]


class TestLessSpread:
    def test_a_run_that_never_arrives_counts_as_arriving_when_its_own_training_ends(self):
        own = [*ALIKE[:6], arriving(0)]
        other = [arriving(at) for at in (0, 4, 0, 4, 2, None, None)]
        budgets = {("E", "powr"): 400, ("E", "dqn"): 3200, ("E", "ppo"): 6400}
        data = compare(own, other)._replace(budgets=budgets)
        dqn, ppo = apply("less_spread", data, EARLIER).findings
        # One own run is 100 timesteps from the median. Theirs is 1,600: three arrive before it, and
        # two are as far from it as the end is.
        assert dqn.estimate == pytest.approx(100 / (1500 + 1500 + 1200 + 2 * (3200 - 1600)))
        assert ppo.estimate == pytest.approx(100 / (1500 + 1500 + 1200 + 2 * (6400 - 1600)))

    @pytest.mark.parametrize(("arrivals_of_theirs", "supports"), [(3, None), (4, True)])
    def test_a_test_that_cannot_succeed_is_left_out(self, arrivals_of_theirs, supports):
        """With three of seven arrivals the smallest p-value is 0.096."""
        other = [*[arriving(2)] * arrivals_of_theirs, *NOBODY[arrivals_of_theirs:]]
        other[0] = arriving(3)
        first, _ = apply("less_spread", compare(ALIKE, other), EARLIER).findings
        assert first.supports is supports
        assert math.isnan(first.p_value) == (supports is None)


ARRIVALS = {
    "environment": "E",
    "column": "mean",
    "at_least": 1,
    "when": "ever",
    "arrive": {"powr": 1600, "dqn": 1600},
    "fail": {"ppo": 1600},
}
AT_THE_END = {**ARRIVALS, "at_least": 5, "when": "end", "arrive": {"powr": 1600}, "fail": {}}


class TestWhoArrives:
    @pytest.mark.parametrize(
        ("powr", "dqn", "ppo", "verdict"),
        [
            (EARLY, LATE, NEVER, REPRODUCED),
            (EARLY, LATE, MIXED, NOT_REPRODUCED),  # not only these two
            (EARLY, HALF, NEVER, PARTLY),  # half are not most
            (EARLY, [*NEVER[:3], arriving(0)], NEVER, PARTLY),  # capable, but seldom
            (EARLY, NEVER, NEVER, PARTLY),  # one of the two
            (NEVER, NEVER, NEVER, NOT_REPRODUCED),
            (EARLY, LATE, EARLY, NOT_REPRODUCED),  # nobody fails
        ],
    )
    def test_verdict(self, powr, dqn, ppo, verdict):
        data = data_of({("E", "powr"): powr, ("E", "dqn"): dqn, ("E", "ppo"): ppo})
        assert verdict_of("who_arrives", data, ARRIVALS) == verdict

    def test_shorter_training_leaves_a_failure_open(self):
        data = data_of({("E", "powr"): EARLY, ("E", "dqn"): EARLY, ("E", "ppo"): NEVER}, budget=800)
        outcome = apply("who_arrives", data, ARRIVALS)
        assert outcome.verdict == NOT_TESTED
        assert [finding.supports for finding in outcome.findings] == [True, True, None]
        assert "trained 800 of 1,600" in outcome.findings[2].statistic

    @pytest.mark.parametrize(
        ("when", "curve", "budget", "verdict"),
        [
            ("end", [9.0] * 5 + [0.0] * 3, 12_800, NOT_REPRODUCED),
            ("ever", [9.0] * 5 + [0.0] * 3, 12_800, REPRODUCED),
            ("end", [0.0] * 3 + [9.0] * 3 + [0.0] * 2, 12_800, REPRODUCED),
            ("end", [9.0] * 8, 800, REPRODUCED),  # a shorter training than the claim is about
            ("end", [0.0] * 8, 800, NOT_TESTED),
        ],
    )
    def test_the_median_of_the_last_five_evaluations_is_the_end(self, when, curve, budget, verdict):
        data = data_of({("E", "powr"): [curve] * 4}, budget=budget)
        assert verdict_of("who_arrives", data, {**AT_THE_END, "when": when}) == verdict

    def test_exact_return_and_distance_to_the_optimum(self):
        data = data_of({("E", "powr"): EARLY}, optimum=1.3)
        asked = {**ARRIVALS, "column": "exact_return", "arrive": {"powr": 1600}, "fail": {}}
        del asked["at_least"]
        assert verdict_of("who_arrives", data, {**asked, "below_optimum": 0.3}) == REPRODUCED
        assert verdict_of("who_arrives", data, {**asked, "below_optimum": 0.2}) == NOT_REPRODUCED

    def test_sampled_policy_where_it_was_recorded(self):
        curves = {("E", "powr"): NEVER, ("E", "dqn"): EARLY, ("E", "ppo"): NEVER}
        asked = {**ARRIVALS, "policy": "sampled"}
        powr, dqn, _ = apply("who_arrives", sampled(data_of(curves), powr=EARLY), asked).findings
        assert powr.supports
        assert dqn.statistic.endswith("its policy deterministic")
        assert verdict_of("who_arrives", data_of(curves), asked) == NOT_TESTED


@pytest.mark.parametrize(
    ("rule", "parameters"),
    [("earlier", EARLIER), ("higher_area", AREA), ("who_arrives", ARRIVALS)],
)
def test_every_rule_says_which_runs_it_needs(rule, parameters):
    claim = {"id": "a-claim", "rule": rule, "parameters": parameters}
    read = ledger.parameters_of(claim, "claims.yaml")
    assert read.needed() == [("E", "powr"), ("E", "dqn"), ("E", "ppo")]
    renamed = read.against({"dqn": "dqn-other", "powr": "powr-other"})
    assert renamed.needed() == [("E", "powr-other"), ("E", "dqn-other"), ("E", "ppo")]


def test_a_baseline_that_learns_too_late_is_left_out_and_the_others_are_judged():
    data = compare(EARLY, LATE)._replace(first_updates={("E", "dqn"): GRID[-2]})
    outcome = apply("higher_area", data, AREA)
    assert outcome.verdict == REPRODUCED
    dqn, ppo = outcome.findings
    assert (dqn.supports, ppo.supports) == (None, True)
    assert math.isnan(dqn.estimate)


@pytest.mark.parametrize(("first_update", "verdict"), [(0, REPRODUCED), (GRID[1], NOT_REPRODUCED)])
def test_an_untrained_policy_is_no_part_of_a_curve(first_update, verdict):
    data = compare([[5.0] * 2 + [0.0] * 6] * 4, [[0.0] * 2 + [1.0] * 6] * 4)
    data = data._replace(first_updates={("E", "dqn"): first_update, ("E", "ppo"): first_update})
    assert verdict_of("higher_area", data, AREA) == verdict


def test_some_tests_must_succeed_after_correction():
    uncorrected = [arriving(at) for at in (0, 0, 1, 4)]
    later = [arriving(at) for at in (1, 3, 4, 5)]
    data = compare(uncorrected, later, uncorrected)
    outcome = apply("earlier", data, EARLIER, 0.1)
    first, second = outcome.findings
    assert first.p_value <= 0.1 < first.p_holm == pytest.approx(2 * first.p_value)
    assert second.p_holm == 1 or second.p_holm >= first.p_holm
    assert outcome.verdict == NOT_REPRODUCED


def test_a_ratio_to_what_never_arrives_is_a_bound():
    first, _ = apply("earlier", compare(EARLY, NEVER), EARLIER).findings
    assert first.is_bound
    assert first.estimate == GRID[-1] / 200
    arrives, _ = apply("earlier", compare(EARLY, [arriving(3)] * 4), EARLIER).findings
    assert not arrives.is_bound


def test_lasting_arrival_is_another_question():
    lost = [[1.0] + [0.0] * 6 + [1.0]] * 4
    data = compare(lost, [arriving(3)] * 4)
    assert verdict_of("earlier", data, EARLIER) == REPRODUCED
    lasting = {**EARLIER, "arrival": "lasting"}
    assert verdict_of("earlier", data, lasting) == NOT_REPRODUCED
