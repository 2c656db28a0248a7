"""Every statistic against hand computation, and against scipy on random data."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from suite.results import statistics
from suite.results.statistics import (
    Interval,
    bootstrap_interval,
    probability_smaller,
    shift,
    speed_up,
    spread_p_value,
)
from suite.results.summary import LEGEND

INF = math.inf


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def enumerated(values):
    """The percentile interval of equally probable values."""
    values, tail = np.sort(values), 0.025 * len(values)
    return values[math.ceil(tail) - 1], values[math.ceil(len(values) - tail) - 1]


class TestBootstrap:
    def test_interval_equals_the_enumeration_of_all_ordered_resamples(self, rng):
        values = rng.normal(size=5)
        means = [np.mean(draw) for draw in itertools.product(values, repeat=5)]
        interval = bootstrap_interval(np.mean, values)
        assert interval == pytest.approx(enumerated(means))

    def test_ratio_interval_equals_all_ordered_resamples(self):
        first, second = [1.0, 2.0, 5.0], [1.0, 3.0]
        ratios = [
            np.mean(draw) / np.mean(other)
            for draw in itertools.product(first, repeat=3)
            for other in itertools.product(second, repeat=2)
        ]
        interval = bootstrap_interval(np.mean, first, second)
        assert interval == pytest.approx(enumerated(ratios))

    def test_ratio_interval_of_seeds_that_never_vary(self):
        same, other = [2.0, 2.0], [1.0, 3.0]
        assert bootstrap_interval(np.std, same, same) == Interval(1, 1)
        assert bootstrap_interval(np.std, other, same).high == INF

    @pytest.mark.parametrize("samples", [1, 2])
    def test_samples_too_large_to_enumerate_are_drawn(self, rng, monkeypatch, samples):
        values = rng.normal(size=(2, 7))[:samples]
        compute = bootstrap_interval.__wrapped__  # which remembers nothing
        exact = compute(np.std, *values)
        monkeypatch.setattr(statistics, "LARGEST_ENUMERATED_SAMPLE", 6)
        monkeypatch.setattr(statistics, "LARGEST_ENUMERATED_PAIR", 6)
        np.testing.assert_allclose(compute(np.std, *values), exact, rtol=0.06)
        assert compute(np.std, *values) == compute(np.std, *values) != exact

    def test_interval_of_the_interquartile_mean_covers_as_often_as_the_summary_says(self, rng):
        mean = partial(stats.trim_mean, proportiontocut=0.25)
        intervals = [bootstrap_interval(mean, values) for values in rng.normal(size=(2000, 7))]
        covered = np.mean([low <= 0 <= high for low, high in intervals])
        assert covered == pytest.approx(0.91, abs=0.02)
        assert "91%" in LEGEND


TIMES = st.lists(st.sampled_from([1.0, 2.0, 3.0, INF]), min_size=1, max_size=4)


class TestProbabilitySmaller:
    def test_without_ties_equals_scipys_exact_test(self, rng):
        first, second = rng.normal(size=7), rng.normal(0.8, size=6)
        expected = stats.mannwhitneyu(second, first, alternative="greater", method="exact")
        comparison = probability_smaller(first, second)
        assert comparison == pytest.approx((expected.statistic / 42, expected.pvalue))

    @given(TIMES, TIMES)
    @settings(max_examples=40, deadline=None)
    def test_with_ties_equals_counting_pairs_over_all_relabellings(self, first, second):
        def probability(label):
            others = [pooled[i] for i in range(len(pooled)) if i not in label]
            pairs = itertools.product([pooled[i] for i in label], others)
            return np.mean([(a < b) + (a == b) / 2 for a, b in pairs])

        pooled = first + second
        labels = itertools.combinations(range(len(pooled)), len(first))
        observed = probability(range(len(first)))
        p_value = np.mean([probability(label) >= observed - 1e-9 for label in labels])
        assert probability_smaller(first, second) == pytest.approx((observed, p_value))


class TestShift:
    def test_by_hand(self):
        # Differences: 1 - (0, 3), 2 - (0, 3), 6 - (0, 3).
        assert shift([1, 2, 6], [0, 3]).value == pytest.approx((1 + 2) / 2)
        # With four and four, P(U < 1) = 1/70: the ends are the smallest and largest difference.
        interval = shift([10, 20, 30, 40], [0, 1, 2, 3]).interval
        assert interval == Interval(10 - 3, 40 - 0)
        # Differences: 1 - (0, inf), inf - (0, inf). Two infinite values count as equal.
        assert shift([1, INF], [0, INF]).value == pytest.approx((0 + 1) / 2)

    def test_interval_holds_the_shifts_that_the_test_accepts(self, rng):
        first, second = rng.normal(1.0, size=7), rng.normal(size=7)
        low, high = shift(first, second).interval

        def p_value(by):
            return stats.mannwhitneyu(first - by, second, method="exact").pvalue

        assert p_value(low - 1e-9) <= 0.05 < p_value(low + 1e-9)
        assert p_value(high + 1e-9) <= 0.05 < p_value(high - 1e-9)


def test_speed_up_of_runs_some_of_which_never_arrive():
    result = speed_up([1000] * 7, [10] * 7)
    assert (result.value, *result.interval) == pytest.approx((100, 100, 100))
    assert speed_up([50, INF, INF, INF, INF, INF, INF], [10] * 7) == (INF, Interval(INF, INF))
    assert speed_up([INF] * 7, [10] * 4 + [INF] * 3).interval == Interval(0, INF)
    assert speed_up([100, 200], [1, 2]).interval == Interval(0, INF)  # too few seeds


class TestSpread:
    def test_p_value_by_enumeration(self):
        first, second = [1.0, 1.1, 1.3, 1.6], [0.0, 2.0, 5.0, 9.0]
        deviations = [abs(x - 1.2) for x in first] + [abs(x - 3.5) for x in second]
        labels = itertools.combinations(range(8), 4)
        null = [sum(deviations[i] for i in label) for label in labels]
        expected = np.mean([value <= sum(deviations[:4]) + 1e-12 for value in null])
        assert spread_p_value(first, second) == pytest.approx(expected)
        assert spread_p_value([x + 10 for x in first], second) == pytest.approx(expected)
        assert expected < 0.1
        assert spread_p_value(second, first) > 0.9


def test_holm_by_hand():
    assert statistics.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert statistics.holm([]) == []
