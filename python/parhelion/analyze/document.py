"""One run in published table layouts and as the document of `parhelion bench --json`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import BAD_INPUT, OK, RANKS_FAILED, WRONG_VALUE
from ..record.model import exit_text
from ..record.read import Record, failed
from .results import BASELINE, LIBRARY, CaseResult, Entry, by_state, variants, entries, headline, in_order, most_samples, over_floor, remarks, results, skew, text, told, varying, with_case
from .sweep import sweep_document
from .words import microseconds, ratio

EXCHANGES = 10_000  # published halo timings are seconds for this many exchanges
NEEDED = ("vdim", "element", "pattern", "rows_moved", "rows_moved_total", "rows_claimed")


class PublishedForm(NamedTuple):
    """A table of strings; the first `names` columns identify the row."""

    caption: str
    head: list[str]
    rows: list[list[str]]
    names: int


def published_form(benchmark: str, cases: Sequence[CaseResult]) -> PublishedForm | None:
    """Return a benchmark's table in published layout, or `None` if there is none."""
    if benchmark == "halo":
        made: PublishedForm | None = _seconds(cases, f"seconds per {EXCHANGES:,} exchanges", ("halo", "fields"), EXCHANGES)
    elif benchmark == "gather":
        made = _seconds(cases, "seconds per gather", ("dataset", "ranks", "element", "components"), 1)
    else:
        made = _ghosts(cases) if benchmark == "ghosts" else None
    return made if made and made.rows else None


def _seconds(cases: Sequence[CaseResult], caption: str, names: Sequence[str], factor: float) -> PublishedForm:
    timed = [case for case in cases if any(entry.median for entry in entries([case]))]
    names = list(dict.fromkeys([*names, *(varying(timed) if len(timed) > 1 else ())]))  # a row is one case
    columns = [who for who in variants(timed) if any(case.entries[who].ran for case in timed if who in case.entries)]
    rows = [[text(case.params.get(name)) for name in names] + [_scaled(case.entries.get(who), factor) for who in columns] for case in timed]
    return PublishedForm(caption, [*names, *columns], rows, len(names))


def _scaled(entry: Entry | None, factor: float) -> str:
    """Format median × `factor`, or `wrong` or `failed`."""
    if entry and entry.failed:
        return "wrong" if any("wrong" in (line.error or "") for line in entry.lines) else "failed"
    return f"{entry.median * factor:.4g}" if entry and entry.median else "–"


def _ghosts(cases: Sequence[CaseResult]) -> PublishedForm:
    caption = ("bytes that reach a rank from others, per second, mean over ranks [time of a pull on the slowest rank]; least … most over "
               "ranks; of all ranks together; claimed: the same per rank, counting every face row as the published figures did")
    names = ("ranks", "vdim", "element", "pattern", "rows_claimed", "rows_unique", "rows_moved")
    head = [*(name.replace("_", " ") for name in names), "variant", "B/s per rank [time]", "least … most", "B/s total", "claimed"]
    rows = [[*(text(case.params.get(name)) for name in names), entry.variant, *bandwidths(case.params, entry)]
            for case, entry in with_case(cases) if entry.median and all(name in case.params for name in NEEDED)]
    return PublishedForm(caption, head, rows, len(names) + 1)


def bandwidths(params: dict[str, Any], entry: Entry) -> tuple[str, str, str, str]:
    """Bytes per second of a `bench ghosts` variant: mean per rank, range over ranks, total, and by the published count of rows."""
    unknown = ("–",) * 4  # the record lacks row counts or times by rank
    by_rank = [line.samples_by_rank for line in entry.lines if line.samples]
    if not by_rank[0] or any(len(each) != len(by_rank[0]) for each in by_rank) or any(name not in params for name in NEEDED):
        return unknown
    time = np.median(np.concatenate([np.asarray(each) for each in by_rank], axis=1), axis=1)
    try:
        size = params["vdim"] * np.dtype(params["element"]).itemsize
    except TypeError:  # not a NumPy type
        return unknown
    if not time.min() > 0:
        return unknown
    rows = np.full(len(time), params["rows_moved"])
    if params["pattern"] == "all-from-one":
        rows[0] = 0  # rank 0 owns all rows that it requests
    moved, claimed, slowest = rows * size / time, params["rows_claimed"] * size / time, entry.median or 0.0
    total = params["rows_moved_total"] * size / slowest
    spread = f"{moved.min():.4e} … {moved.max():.4e}"
    return f"{moved.mean():.4e} [{slowest * 1e3:.3g}ms]", spread, f"{total:.4e}", f"{claimed.mean():.4e}"


STEPS = 1000  # steps that amortize the set-up

CAPTION = (f"µs, medians; exchange: time of all exchanges of a step, once the ranks have synchronized, mean over ranks; with set-up: plus "
           f"1/{STEPS:,} of the set-up; over hand-written: exchange and step, each divided by the shortest of the hand-written variants; "
           "lines: of exchange code, without blanks and comments")
HEAD = ["application", "ranks", "extent", "exchanged by", "step", "step over hand-written", "exchange", "share of step",
        "with set-up", "exchange over hand-written", "lines"]


class Share(NamedTuple):
    """Time of a step and of its exchanges, in seconds."""

    step: float
    exchange: float
    with_setup: float
    lines: int | None

    @property
    def of_step(self) -> float:
        return self.exchange / self.step


def share(entry: Entry) -> Share | None:
    """Return the share, or `None` for non-applications and failed variants; `STEPS` steps amortize the set-up."""
    told = [line.exchange_s for line in entry.lines if line.exchange_s]
    if not told or not entry.median:
        return None
    setup = sum(seconds for part, seconds in entry.setup_s.items() if part != "first")
    exchange = float(np.median(np.concatenate(told)))
    return Share(entry.median, exchange, exchange + setup / STEPS, entry.first("exchange_lines"))


def over_hand_written(case: CaseResult, entry: Entry) -> float | None:
    """Exchange time with set-up / the least such time of hand-written variants."""
    mine, others = share(entry), [found for found in map(share, case.of_role(BASELINE)) if found]
    least = min((found.with_setup for found in others), default=0.0)
    return mine.with_setup / least if mine and least > 0 else None


def applications(cases: Sequence[CaseResult]) -> PublishedForm | None:
    """Return a row per application and variant, or `None` without applications."""
    rows = [[*(text(case.params.get(name, "–")) for name in ("app", "ranks", "extent")), entry.variant,
             microseconds(found.step), ratio(case.relative(entry.variant)), microseconds(found.exchange), f"{found.of_step:.1%}",
             microseconds(found.with_setup), ratio(over_hand_written(case, entry)), str(found.lines or "–")]
            for case, entry in with_case(in_order(cases)) if (found := share(entry))]
    return PublishedForm(CAPTION, HEAD, rows, HEAD.index("step")) if rows else None


def bench_document(record: Record) -> dict[str, Any]:
    cases, states = results(record.cases), by_state(record)
    state, usual = most_samples(states)
    head = headline(usual)
    floor = over_floor(head.speeds)
    shown = [(cores, case, entry) for cores, some in states for case, entry in with_case(some) if entry.ran]
    timed = {(entry.name, str(entry.params), entry.variant) for *_, entry in shown}
    return {
        "schema": "parhelion.bench/1",
        "benchmark": record.run.benchmark,
        "run": record.id,
        "record": str(record.path),
        "labels": record.labels,
        "environment": record.run.environment,
        "notes": remarks(record, cases),
        "headline": head.mean and {"variant": head.variant, "best_baseline_over_time": head.mean, "ci95": head.interval, "cases": len(head.speeds), "cores": state,
                                   "time_over_floor": floor.value, "time_over_floor_ci95": floor.interval},
        "failures": [{"launch": end.launch, "status": end.status, "message": end.message} for end in failed(record)],
        "cores": state,
        "cases": [_timing(*each) for each in shown],
        **(sweep_document(record, cases, states) if any({"size", "network"} & case.params.keys() for case in cases) else {}),
        "not_run": [_who(entry) | {"skipped": "its samples are of a rare or unknown state of the cores" if entry.ran else entry.skipped, "error": entry.error}
                    for entry in entries(cases) if (entry.name, str(entry.params), entry.variant) not in timed],
    }


def exit_status(record: Record) -> int:
    """Return 2 if the ranks rejected their input, 3 if they failed otherwise, 1 if a value was wrong, else 0.

    Wrong values of other libraries do not count.
    """
    statuses = {str(end.status) for end in failed(record)}
    if exit_text(BAD_INPUT) in statuses:
        return BAD_INPUT
    if statuses:
        return RANKS_FAILED
    wrong = any(entry.failed and entry.role != LIBRARY for entry in entries(results(record.cases)))
    return WRONG_VALUE if wrong else OK


def _who(entry: Entry) -> dict[str, Any]:
    return {"name": entry.name, "params": entry.params, "variant": entry.variant, "role": entry.role}


def _timing(cores: str, case: CaseResult, entry: Entry) -> dict[str, Any]:
    """Document one variant on one case in one state of the cores, with skew, application, energy, phase and level keys if recorded."""
    apart, levels, exchange = skew(entry), by_level(entry), share(entry)
    return {
        **_who(entry),
        "cores": cores,
        "verified": entry.verified,
        **told(entry.summary),
        "time_over_best_baseline": case.relative(entry.variant),
        "samples": [sample for line in entry.lines for sample in line.samples],
        **({"skew_s": apart.apart, "together_s": apart.together, "last_rank": apart.rank, "last_rank_share": apart.share} if apart else {}),
        **({"exchange_s": exchange.exchange, "exchange_share": exchange.of_step, "exchange_with_setup_s": exchange.with_setup,
            "exchange_over_best_baseline": over_hand_written(case, entry), "exchange_lines": exchange.lines} if exchange else {}),
        **({"energy_j": entry.energy_j} if entry.energy_j is not None else {}),
        **({"phases_s": entry.phases_s} if entry.phases_s else {}),
        "launches": [line.launch for line in entry.lines],
        "setup_s": entry.setup_s,
        "bytes": entry.first("bytes"),
        "messages": entry.first("messages"),
        **({"traffic_by_level": levels} if levels else {}),
        "explain": entry.first("explain"),
        "error": entry.error,
    }


def by_level(entry: Entry) -> dict[str, dict[str, int]] | None:
    return entry.first("traffic_by_level") or None
