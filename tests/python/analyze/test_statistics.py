"""Statistics of timings."""

import json
import math

import numpy as np
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from parhelion.analyze.document import bench_document
from parhelion.analyze.results import by_state, headline, of_variant, over_floor, results, usual_state
from parhelion.analyze.statistics import Method
from parhelion.analyze.statistics import Interval
from parhelion.analyze.statistics import geometric_mean, ratio
from parhelion.analyze.statistics import mean_std, median_interval, summarize
from parhelion.analyze.statistics import value_with_uncertainty
from parhelion.analyze.words import duration, microseconds, significant
from parhelion.record.model import Case
from parhelion.record.read import read_record

SEED = 20260101


@pytest.mark.parametrize(
    ("mean", "std", "expected"),
    [
        (9.96, 0.05, "9.96(5)"),
        (0.9, 0.0312, "0.90(3)"),
        (1.2, 0.08, "1.20(8)"),
        (9.96, 0.095, "10.0(1)"),
        (9.96, 0.5, "10.0(5)"),
        (99.996, 0.02, "100.00(2)"),
        (1664.03, 12.3, "1664(12)"),
        (0.0000123, 0.0000004, "0.0000123(4)"),
        (-1.0, 0.3, "-1.0(3)"),
        (9.96, 0.0, "9.96(0)"),
        (math.nan, 1.0, "–"),
        (1.0, math.inf, "–"),
    ],
)
def test_a_standard_deviation_stands_in_brackets_for_the_last_digits_of_the_mean(mean, std, expected):
    assert value_with_uncertainty(mean, std) == expected


def test_one_sample_has_no_standard_deviation_and_no_brackets():
    assert mean_std([1664.03]) == "1664.03"


def test_equal_samples_have_a_standard_deviation_of_zero():
    assert mean_std([0.9, 0.9, 0.9]) == "0.9(0)"


def test_no_sample_has_no_mean():
    assert mean_std([]) == "–"


def test_the_spread_of_samples_is_that_of_one_sample_not_of_the_mean():
    assert mean_std([9.91, 10.01] * 50) == "9.96(5)"


@given(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9))
def test_the_brackets_never_claim_more_than_was_given(mean, std):
    shown = value_with_uncertainty(mean, std)
    digits, brackets = shown.rstrip(")").split("(")
    place = 10.0 ** -len(digits.partition(".")[2])
    shown_std = float(brackets) * (1 if "." in brackets else place)
    if std > mean * 1e-12:
        assert shown_std == pytest.approx(std, rel=0.51)
        assert abs(float(digits) - mean) <= max(0.51 * place, 0.51 * std)


def test_one_launch_has_no_interval_however_many_its_samples():
    samples = np.random.default_rng(SEED).lognormal(0, 0.01, 100)
    assert median_interval([samples]) == (Interval(None, None), None)
    found = ratio([([{0: samples * 2}], [{0: samples}])])
    assert found == (pytest.approx(2), Interval(None, None), None)


def test_a_launch_of_many_samples_draws_the_median_no_further_than_others():
    rng = np.random.default_rng(SEED)
    launches = [shift * rng.lognormal(0, 0.001, count) for shift, count in ((1.0, 20), (1.1, 20), (1.101, 20), (1.102, 20), (1.3, 1000))]
    found = summarize(launches)
    assert found.median == pytest.approx(1.101, rel=0.002)  # 1.3 if all samples count alike
    assert found.interval.low < found.median < found.interval.high


def test_differing_launches_widen_the_interval():
    rng = np.random.default_rng(SEED)
    launches = [shift * rng.lognormal(0, 0.01, 30) for shift in (1.0, 1.1, 1.2)]
    apart = median_interval(launches)[0]
    alike = median_interval([samples / np.median(samples) for samples in launches])[0]
    assert apart.width > alike.width
    assert apart.low < 1.02 and apart.high > 1.18


def test_the_same_samples_always_give_the_same_interval():
    launches = [np.arange(1.0, 31.0), np.arange(2.0, 32.0)]
    assert median_interval(launches) == median_interval(launches) and median_interval(launches)[1] is Method.LAUNCHES


def interval_of(cases):
    """The interval of a ratio, which holds the ratio well inside."""
    found = ratio(cases)
    low, high = found.interval
    assert (low is None and found.value is None) or low == high or low < found.value < high
    if low is not None and low != high:
        assert np.log(found.value) == pytest.approx((np.log(low) + np.log(high)) / 2)
    return found.interval


def numbered(launches):
    """Samples by the number of the start."""
    return dict(enumerate(launches))


@pytest.mark.parametrize("launches", [2, 3, 10])
def test_the_interval_of_the_median_over_launches_covers_it_as_often_as_it_says(launches):
    rng = np.random.default_rng(SEED)
    print("seed", SEED)
    ends = [median_interval([shift * rng.lognormal(0, 0.05, 20) for shift in rng.lognormal(0, 0.03, launches)])[0] for _ in range(400)]
    assert 0.92 <= np.mean([low <= 1 <= high for low, high in ends]) <= 1.0


@pytest.mark.parametrize(("own", "baselines"), [(1, 1), (1, 6), (8, 6)])
@pytest.mark.parametrize("launches", [3, 10])
def test_the_interval_of_best_over_best_covers_it_although_both_were_chosen(own, baselines, launches):
    """All variants are alike in truth, which is where choosing the best errs most: neither ratio nor interval lean to a side."""
    rng = np.random.default_rng(SEED)
    print("seed", SEED)
    found = []
    for _ in range(150):
        pace = rng.lognormal(0, 0.05, launches)
        below, above = ([{i: pace[i] * rng.lognormal(rng.normal(0, 0.015), 0.03, 20) for i in range(launches)} for _ in range(count)]
                        for count in (own, baselines))
        found.append(ratio([(above, below)]))
    assert np.mean([each.interval.low <= 1 <= each.interval.high for each in found]) >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / len(found))
    logs = np.log([each.value for each in found])
    assert abs(logs.mean()) < 3 * logs.std() / np.sqrt(len(logs))
    assert (Method.CHOSEN in found[0].method) == (own + baselines > 2)


def test_the_headline_without_auto_does_not_favor_the_variant_that_was_lucky():
    """All variants are alike in truth: the launches that choose the fastest would make it look faster than it is."""
    rng = np.random.default_rng(SEED)
    covered = []
    for _ in range(400):
        pace = rng.lognormal(0, 0.05, 5)
        names = {"hand_packed": "baseline"} | {f"transport_{number}": "own" for number in range(8)}
        lines = [Case(launch, "halo", name, role=role, verified=True, samples=(pace[launch] * rng.lognormal(0, 0.03, 4)).tolist())
                 for name, role in names.items() for launch in range(5)]
        low, high = headline(results(lines)).interval
        covered.append(low <= 1 <= high)
    assert np.mean(covered) >= 0.95


def test_the_ratio_is_that_of_the_fastest_on_either_side():
    rng = np.random.default_rng(SEED)
    slow, fast, best = ({i: seconds * rng.lognormal(0, 0.001, 20) for i in range(4)} for seconds in (9.0, 3.0, 1.0))
    low, high = interval_of([([slow, fast], [best, slow])])
    assert 2.99 < low < 3 < high < 3.01


def test_where_either_may_be_the_fastest_the_ratio_is_less_sure_than_the_same_ratio_of_two():
    """Each of two baselines is the faster one in half of the starts: which of them is the best is anyone's guess."""
    rng = np.random.default_rng(SEED)
    own = {i: rng.lognormal(0, 0.001, 20) for i in range(10)}
    baselines = [{i: (1.0 + 0.2 * (i % 2 == parity)) * rng.lognormal(0, 0.001, 20) for i in range(10)} for parity in (0, 1)]
    low, high = interval_of([(baselines, [own])])
    assert low < 1.095 < high and np.log(high / low) > 0.03


def test_launches_are_paired_by_number_in_a_ratio():
    rng = np.random.default_rng(SEED)
    pace = {7: 1.0, 2: 3.0, 5: 9.0}
    above, below = ({i: factor * pace[i] * rng.lognormal(0, 0.001, 20) for i in order} for factor, order in ((2, (7, 2, 5)), (1, (5, 7, 2))))
    low, high = interval_of([([above], [below])])
    assert 1.99 < low <= high < 2.01


def test_what_a_launch_does_to_both_cancels_in_their_ratio():
    rng = np.random.default_rng(SEED)
    shifts = (1.0, 1.5, 2.0)
    above = [2 * shift * rng.lognormal(0, 0.001, 30) for shift in shifts]
    below = [shift * rng.lognormal(0, 0.001, 30) for shift in shifts]
    low, high = interval_of([([numbered(above)], [numbered(below)])])
    assert 1.99 < low <= high < 2.01


def test_a_ratio_of_single_samples_has_no_interval():
    assert interval_of([([numbered([np.ones(1)])], [numbered([np.ones(1)])])]) == Interval(None, None)


def test_the_geometric_mean_of_a_ratio_and_its_inverse_is_one():
    assert geometric_mean([4.0, 0.25]) == pytest.approx(1.0)


def test_the_geometric_mean_of_nothing_is_nothing():
    assert geometric_mean([None, None]) is None


def test_a_summary_joins_launches():
    summary = summarize([[1e-6, 2e-6, 3e-6], [], [4e-6, 5e-6]])
    assert (summary.count, summary.launches, summary.median) == (5, 2, 3.5e-6)
    assert summary.mean_std_us == "3(2)"


def test_without_samples_there_is_no_summary():
    assert summarize([[], []]) is None


def test_a_hundred_thousand_samples_are_summarized():
    rng = np.random.default_rng(SEED)
    summary = summarize([rng.lognormal(0, 0.1, 50_000), rng.lognormal(0, 0.1, 50_000)])
    assert summary.interval.low < summary.median < summary.interval.high


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1e-6, "1.00"), (20.66e-6, "20.7"), (1.0661e-3, "1\N{NO-BREAK SPACE}066"), (4.4e-7, "0.440"), (0.0, "0.00"), (None, "–")],
)
def test_microseconds_have_three_digits_and_no_exponent(seconds, text):
    assert microseconds(seconds) == text


@pytest.mark.parametrize("launches", [[np.array([1e-6]), np.array([5e-6])], [np.arange(1.0, 3.0), np.arange(2.0, 5.0)], [np.ones(5)]])
def test_samples_too_few_for_an_interval_from_one_launch_are_too_few_from_several(launches):
    assert median_interval(launches) == (Interval(None, None), None)
    assert interval_of([([numbered(launches)], [numbered(launches)])]) == Interval(None, None)


@given(st.floats(1e-12, 1e9), st.integers(1, 6))
def test_digits_are_counted_after_rounding(value, digits):
    shown = significant(value, digits).replace("\N{NO-BREAK SPACE}", "")
    assert "e" not in shown
    whole, _, decimals = shown.partition(".")
    assert abs(float(shown) - value) <= (0.5 + 1e-9) * 10.0 ** -len(decimals)
    assert len(f"{whole}{decimals}".lstrip("0")) == max(digits, len(whole))


@pytest.mark.parametrize(("value", "text"), [(9.999, "10.0"), (0.9996, "1.00"), (99.96, "100"), (9.994, "9.99"), (0.09999, "0.100"), (0, "0.00"),
                                             (-9.999, "-10.0")])
def test_a_carry_costs_a_decimal(value, text):
    assert significant(value) == text


@pytest.mark.parametrize(("seconds", "text"), [(9.999e-6, "10.0 µs"), (999.7e-6, "1.00 ms"), (0.9999, "1.00 s"), (1234.5, "1\N{NO-BREAK SPACE}234 s"),
                                               (math.nan, "–"), (None, "–"), (5e-7, "0.500 µs")])
def test_a_time_is_given_in_the_unit_of_what_is_shown(seconds, text):
    assert duration(seconds) == text


def test_samples_of_near_and_of_far_cores_have_tables_of_their_own_and_the_floor_bounds_both(tmp_path):
    names = ("auto", "hand_packed", "floor_get")
    path = synthetic.write_record(tmp_path / "run", launches=4, samples=40, variants=names)
    lines = [json.loads(line) for line in (path / "record.jsonl").read_text().splitlines()]
    for case in (line for line in lines if line["type"] == "case"):
        case["samples"] = [3 * seconds if probe > 100 else seconds for seconds, probe in zip(case["samples"], case["probe_ns"])]
    (path / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    record = read_record(path)
    (near, fast), (far, slow) = by_state(record)
    assert (near, far) == ("cores near (50 ns)", "cores far (210 ns)")
    for one, other in zip(fast, slow, strict=True):
        entries = [(one.entries[name], other.entries[name]) for name in names]
        assert all(b.median / a.median == pytest.approx(3, rel=0.1) for a, b in entries)
        assert all(a.summary.count + b.summary.count == 160 for a, b in entries)
    head = bench_document(record)["headline"]
    assert head["time_over_floor_ci95"][0] < head["time_over_floor"] < head["time_over_floor_ci95"][1]
    assert head["time_over_floor"] == pytest.approx(1 / 0.8, rel=0.05)
    for cases in (fast, slow):
        assert over_floor(of_variant(cases, "auto")).value == pytest.approx(1 / 0.8, rel=0.05)
        assert over_floor(of_variant(cases, "floor_get")).value == 1 and over_floor(of_variant(cases, "absent")).value is None


def test_a_timing_whose_samples_are_all_of_a_rare_core_state_is_told_as_left_out(tmp_path):
    path = synthetic.write_record(tmp_path / "run", launches=3, variants=("auto", "hand_packed"), cases=synthetic.halo_cases((1, 2), (1, 2, 4)))
    lines = [json.loads(line) for line in (path / "record.jsonl").read_text().splitlines()]
    for case in (line for line in lines if line["type"] == "case"):
        rare = (case["params"]["halo"], case["params"]["fields"], case["variant"]) == (2, 4, "auto")
        case["probe_ns"] = [210.0 if rare else 50.0] * len(case["samples"])
    (path / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    document = bench_document(read_record(path))
    (left_out,) = document["not_run"]
    assert (left_out["params"]["halo"], left_out["params"]["fields"], left_out["variant"]) == (2, 4, "auto") and "rare" in left_out["skipped"]
    assert len(document["cases"]) == 11 and {case["cores"] for case in document["cases"]} == {"cores near (50 ns)"}


@pytest.mark.parametrize(("near", "cores", "speed"), [(0.75, "cores near (50 ns)", 2), (0.25, "cores far (210 ns)", 0.5)])
def test_the_headline_is_that_of_the_core_state_of_most_samples(tmp_path, near, cores, speed):
    record = read_record(synthetic.write_two_states(tmp_path / "run", near))
    document = bench_document(record)
    for case in document["cases"]:
        pace = {"cores near (50 ns)": 0.5, "cores far (210 ns)": 2}[case["cores"]] if case["variant"] == "auto" else 1
        assert case["median_s"] == pytest.approx(20e-6 * pace, rel=0.02) and max(case["samples"]) < 1.2 * min(case["samples"])
    assert len({(case["params"]["fields"], case["variant"], case["cores"]) for case in document["cases"]}) == len(document["cases"]) == 8
    head = document["headline"]
    assert document["cores"] == head["cores"] == cores and head["best_baseline_over_time"] == pytest.approx(speed, rel=0.05)
    low, high = head["ci95"]
    assert low < speed < high and high / low < 1.1
    (one, other), usual = by_state(record), usual_state(record)
    assert usual[0] == cores and {one[0], other[0]} == {"cores near (50 ns)", "cores far (210 ns)"}
