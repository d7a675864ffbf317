"""What a report opens with: per case the floor, ours, the fastest by hand and the fastest other library, on one scale; and what that says."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...documents import CaseResult, Entry
from ...documents.params import text, varying
from ...documents.results import BASELINE, OWN, PEER
from ...documents.wording import Wording
from ...statistics.interval import NO_INTERVAL
from ...style.words import microseconds, times, times_ends
from .headline import Headline

MOST_ROWS = 12
AUTO = "auto"
SHOWN = ("floor", OWN, BASELINE, PEER)
WIDEST = 3.0  # times the time by hand: what lies beyond stands at the edge


@dataclass(frozen=True)
class Mark:
    """One contender in a row: its middle and its interval, in percent of the width; `beyond` where it lies past the edge."""

    role: str
    contender: str
    microseconds: str
    middle: float
    low: float
    high: float
    beyond: bool


@dataclass(frozen=True)
class Row:
    """One case: marks from the floor to the peer, and how many times as fast as by hand ours is."""

    label: str
    marks: list[Mark]
    times: str
    interval: str


@dataclass(frozen=True)
class Overview:
    """The rows of a figure, its ticks with their places, and how many cases it leaves out."""

    rows: list[Row]
    ticks: list[tuple[str, float]]
    roles: list[str]
    left_out: int


def overview(cases: Sequence[CaseResult]) -> Overview | None:
    """Times as shares of the fastest time by hand; `None` where no case has both one of ours and one by hand."""
    compared = [case for case in cases if (case.best_baseline and ours(case))]
    if not compared:
        return None
    shown = [compared[number * len(compared) // MOST_ROWS] for number in range(MOST_ROWS)] if len(compared) > MOST_ROWS else compared
    edge = _edge(shown)
    names = varying(cases)
    rows = [_row(case, names, edge) for case in shown]
    step = 0.25 if edge <= 1.5 else 0.5
    ticks = [(f"{share:g}", 100 * share / edge) for share in (step * number for number in range(int(edge / step) + 1))]
    roles = [role for role in SHOWN if any(mark.role == role for row in rows for mark in row.marks)]
    return Overview(rows, ticks, roles, len(compared) - len(shown))


def ours(case: CaseResult) -> Entry | None:
    """What users get: `auto` where it ran, else the fastest of the library."""
    entry = case.entries.get(AUTO)
    return entry if entry and entry.median else case.best(OWN)


def _chosen(case: CaseResult) -> dict[str, Entry]:
    found = {role: ours(case) if role == OWN else case.best(role) for role in SHOWN}
    return {role: entry for role, entry in found.items() if entry}


def _edge(cases: Sequence[CaseResult]) -> float:
    shares = [entry.median / case.best_baseline.median for case in cases for entry in _chosen(case).values()]  # type: ignore[operator, union-attr]
    return min(WIDEST, max(1.25, 1.1 * max(shares)))


def _row(case: CaseResult, names: Sequence[str], edge: float) -> Row:
    scale = case.best_baseline.median * edge / 100  # type: ignore[operator, union-attr]
    marks = [_mark(role, entry, scale) for role, entry in _chosen(case).items()]
    own = ours(case)
    label = ", ".join(f"{name} {text(case.params.get(name))}" for name in names) or case.name
    return Row(label, marks, times(case.speed(own.contender)), times_ends(case.speed_interval(own.contender)))  # type: ignore[union-attr]


def _mark(role: str, entry: Entry, scale: float) -> Mark:
    interval = entry.summary.interval if entry.summary else NO_INTERVAL
    middle = (entry.median or 0.0) / scale
    low, high = ((middle if end is None else min(100.0, end / scale)) for end in interval)
    return Mark(role, entry.contender, microseconds(entry.median), min(100.0, middle), min(low, middle, 100.0), max(high, low), middle > 100)


def verdicts(cases: Sequence[CaseResult], head: Headline, words: Wording) -> list[str]:
    """A sentence each: against hand-written code, against other libraries, against the floor."""
    said = [_against_hand(head, words)] if head.mean else []
    for role, beside in ((PEER, "the fastest other library"), ("floor", "the floor, which only copies")):
        ratios = [entries[role].median / entries[OWN].median for entries in map(_chosen, cases) if role in entries and OWN in entries]  # type: ignore[operator]
        if ratios:
            low, high = min(ratios), max(ratios)
            said.append(f"Against {beside}: {times(low)}" + (f" to {times(high)}" if len(ratios) > 1 else "") + f" as fast, over {_cases(len(ratios))}.")
    return said


def _against_hand(head: Headline, words: Wording) -> str:
    low, high = head.interval
    told = f"{times(head.mean)} {times_ends(head.interval)} as fast as {words.base}, geometric mean over {_cases(head.cases)}"
    if low is None or high is None:
        return f"{head.contender} is {told}; samples are too few for an interval."
    if low > 1:
        return f"{head.contender} is faster: {told}."
    return f"{head.contender} is slower: {told}." if high < 1 else f"No difference is shown between {head.contender} and {words.base}: {told}."


def _cases(count: int) -> str:
    return f"{count} case{'s' if count != 1 else ''}"
