"""Comparing two sides: right as often as it says, and blind to what means nothing."""

import numpy as np
import pytest
from scipy import stats

from parhelion.tools.statistics.compare import Difference, difference, differences
from parhelion.tools.statistics.interval import Interval
from parhelion.tools.statistics.shift import TRIM, launch_shift, middle
from parhelion.tools.statistics.states import Launch, state_boundary, without_states
from parhelion.tools.statistics.verdict import Rules, Verdict, verdicts

SEED = 20260101
SPLITS = 100


def side(rng, launches=10, samples=30, between=0.01, within=0.05, scale=1.0, states=False):
    """Launches as a machine gives them: each a little off, with stragglers, and the cores now near, now far."""
    return [launch(rng, samples, scale * np.exp(rng.normal(0, between)), within, states) for _ in range(launches)]


def launch(rng, samples, scale, within, states):
    straggling = (rng.random(samples) < 0.05) * rng.exponential(1, samples)
    far = (rng.random(samples) < rng.choice([0.05, 0.5, 0.95])) if states else np.zeros(samples)
    logs = rng.normal(0, within, samples) + straggling + 0.9 * far
    return Launch(20e-6 * scale * np.exp(logs), np.exp(rng.normal(0, 0.08, samples)) * (50 + 170 * far))


def rate(wanted, cases=4, **planted):
    """Share of pairs in which at least one case has one of the wanted verdicts."""
    rng = np.random.default_rng(SEED)
    print("seed", SEED)
    planted_scale = planted.pop("scale", 1.0)
    met = 0
    for _ in range(SPLITS):
        pairs = [(side(rng, **planted), side(rng, scale=planted_scale, **planted)) for _ in range(cases)]
        met += any(verdict in wanted for verdict in verdicts(differences(pairs)))
    return met / SPLITS


DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)
# Of 100 pairs at a true rate of 5 %, more than 10 are called different once in 90 runs; the seed is fixed.
MOST_FALSE = 0.10


@pytest.mark.parametrize("between", [0.0, 0.02])
@pytest.mark.parametrize("launches", [3, 10])
def test_pairs_in_which_nothing_changed_are_rarely_called_different(launches, between):
    assert rate(DIFFERENT, launches=launches, between=between) <= MOST_FALSE


def test_pairs_in_which_only_the_state_of_the_machine_changed_are_rarely_called_different():
    assert rate(DIFFERENT, states=True) <= MOST_FALSE


@pytest.mark.parametrize("states", [False, True])
def test_a_planted_slowdown_of_5_percent_is_found(states):
    assert rate((Verdict.SLOWER,), cases=1, scale=1.05, states=states) >= 0.95


def test_a_planted_speed_up_is_called_faster():
    assert rate((Verdict.FASTER,), cases=1, scale=1 / 1.05) >= 0.95


def test_launches_that_differ_are_not_taken_for_a_change_however_many_samples_they_have():
    rng = np.random.default_rng(SEED)
    first, second = (side(rng, launches=3, samples=2000, between=0.05) for _ in range(2))
    found = difference(first, second)
    assert found.p_mann_whitney < 1e-6 < 0.05 < found.p_launches
    assert verdicts([found]) == [Verdict.NOT_ENOUGH]


def test_the_interval_of_the_ratio_covers_it_as_often_as_it_says():
    rng = np.random.default_rng(SEED)
    covered = [low <= 1.05 <= high for low, high in (difference(side(rng), side(rng, scale=1.05)).interval for _ in range(300))]
    assert 0.92 <= np.mean(covered) <= 0.98


def test_a_single_launch_is_compared_but_marked():
    rng = np.random.default_rng(SEED)
    found = difference(side(rng, launches=1, samples=200), side(rng, launches=1, samples=200, scale=1.2))
    assert found.single_launch and verdicts([found]) == [Verdict.SLOWER]


def test_samples_that_resemble_their_predecessors_count_for_less():
    rng = np.random.default_rng(SEED)
    drift = np.sin(np.arange(100) / 8) / 20
    smooth, shuffled = (Launch(np.exp(each), np.full(100, np.nan)) for each in (drift, rng.permutation(drift)))
    other = Launch(np.exp(rng.normal(0.03, 0.03, 100)), np.full(100, np.nan))
    assert difference([smooth], [other]).p > 10 * difference([shuffled], [other]).p


@pytest.mark.parametrize("sizes", [(0, 10), (1, 1), (10, 0)])
def test_too_few_samples_are_said_to_be_too_few(sizes):
    sides = [[Launch(np.full(size, 1e-6), np.full(size, 50.0))] if size else [] for size in sizes]
    found = difference(*sides)
    assert found.p is None and verdicts([found]) == [Verdict.NOT_ENOUGH]


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, Verdict.NO_DIFFERENCE), (2.0, Verdict.SLOWER)])
def test_samples_without_any_spread_are_compared(scale, verdict):
    first, second = ([Launch(np.full(5, each), np.full(5, np.nan))] * 3 for each in (1e-6, scale * 1e-6))
    assert verdicts([difference(first, second)]) == [verdict]


def test_effect_sizes_have_the_sign_of_the_change():
    rng = np.random.default_rng(SEED)
    found = difference(side(rng), side(rng, scale=1.5))
    assert found.cliffs_delta > 0.9
    assert found.hodges_lehmann == pytest.approx(1.5, rel=0.02)
    assert found.ratio == pytest.approx(1.5, rel=0.02)


def test_many_cases_are_judged_as_one_family():
    certain = Difference(1.5, Interval(1.4, 1.6), 0.04, 0.04, 1.0, 1.5, (3, 3))
    nothing = Difference(1.0, Interval(0.9, 1.1), 0.9, 0.9, 0.0, 1.0, (3, 3))
    assert verdicts([certain])[0] is Verdict.SLOWER
    assert verdicts([certain, *[nothing] * 9])[0] is Verdict.NOT_ENOUGH


def test_a_difference_too_small_to_matter_is_none():
    tiny = Difference(1.005, Interval(1.004, 1.006), 1e-9, 1e-9, 0.9, 1.005, (9, 9))
    assert verdicts([tiny]) == [Verdict.NO_DIFFERENCE]
    assert verdicts([tiny], Rules(least=0.001)) == [Verdict.SLOWER]


def test_no_difference_is_only_shown_where_the_interval_leaves_no_room_for_one():
    wide, narrow = (Difference(1.0, Interval(1 / (1 + half), 1 + half), 0.9, 0.9, 0.0, 1.0, (3, 3)) for half in (0.2, 0.02))
    assert verdicts([wide, narrow]) == [Verdict.NOT_ENOUGH, Verdict.NO_DIFFERENCE]


def test_two_states_are_told_apart_and_one_is_left_whole():
    rng = np.random.default_rng(SEED)
    near, far = rng.normal(50, 4, 300), rng.normal(220, 15, 60)
    assert 70 < state_boundary(np.concatenate([near, far])) < 180
    assert state_boundary(near) is None
    assert state_boundary(np.full(100, np.nan)) is None
    assert state_boundary(np.empty(0)) is None


def test_sides_that_share_no_state_cannot_be_compared():
    near, far = (side(np.random.default_rng(SEED), launches=3) for _ in range(2))
    far = [Launch(each.samples * 3, each.probe * 5) for each in far]
    assert difference(near, far).p is None
    assert not all(without_states(near, far))


@pytest.mark.parametrize("counts", [(3, 3), (10, 7), (25, 40)])
def test_the_test_of_launches_is_yuens_as_scipy_has_it(counts):
    """Taken apart only because each variance is drawn towards those of other cases before it is used."""
    rng = np.random.default_rng(SEED)
    first, second = (rng.normal(size=count) for count in counts)
    found = launch_shift([np.array([value]) for value in first], [np.array([value]) for value in second])
    wanted = stats.ttest_ind(second, first, trim=TRIM)
    assert (found.shift / found.error, found.p, found.freedom) == pytest.approx((wanted.statistic, wanted.pvalue, wanted.df))
    assert np.log(found.interval(0.95)) == pytest.approx(np.array(wanted.confidence_interval(0.95)))
    assert middle(first) == pytest.approx(stats.trim_mean(first, TRIM))
