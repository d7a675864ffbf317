"""The table for narrow terminals: `auto` beside the fastest of the library, by hand, of other libraries, and the floor."""

from collections.abc import Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from ..documents import CaseResult
from ..documents.params import constant, in_order, text, varying
from ..documents.results import BASELINE, OWN, PEER, mean_speed, of_contender
from ..documents.wording import wording
from ..statistics import Interval
from ..statistics.interval import NO_INTERVAL
from ..style.terminal import table
from ..style.words import microseconds

HELP = "µs per {}, median; ×: times as fast as {}; below: 95 % intervals and names; mean: geometric; a wider terminal shows every contender"
AUTO = "auto"
FASTEST = {"floor": "floor", OWN: "fastest own", BASELINE: "fastest by hand", PEER: "fastest peer"}


def short_table(benchmark: str, cases: Sequence[CaseResult]) -> Table:
    """One row per case: `auto`, and the fastest of each role that ran; 80 columns hold it."""
    words = wording(benchmark)
    parameters, rows = varying(cases), in_order(cases)
    roles = [role for role in FASTEST if any(case.of_role(role) for case in cases)]
    shown = case_table(benchmark, cases, HELP.format(words.of, words.base))
    shown.box, shown.padding, shown.pad_edge, shown.show_edge = box.SIMPLE_HEAD, (0, 0, 0, 1), False, False
    shown.add_column(AUTO, justify="right", no_wrap=True)
    for role in roles:
        shown.add_column(FASTEST[role], justify="right", overflow="fold")
    for case in rows:
        shown.add_row(*values(case, parameters), _auto(case), *(_fastest(case, role) for role in roles))
    means = dict.fromkeys(roles, "") | {OWN: speed(*mean_speed([(case, case.of_role(OWN)) for case in rows]))}
    shown.add_section()
    shown.add_row("mean", *[""] * (len(parameters) - 1), speed(*mean_speed(of_contender(rows, AUTO))), *(means[role] for role in roles))
    return shown


def _auto(case: CaseResult) -> str:
    entry = case.entries.get(AUTO)
    if entry is None or not entry.median:
        return "[bad]FAILED[/]" if entry and entry.failed else "–"
    return f"{microseconds(entry.median)} {speed(case.speed(AUTO), case.speed_interval(AUTO))}"


def _fastest(case: CaseResult, role: str) -> str:
    """Its time, and below it its name; how many times as fast where it is the library's or another one's."""
    entry = case.best(role)
    if entry is None:
        return "–"
    times = f" {speed(case.speed(entry.contender))}" if role in (OWN, PEER) else ""
    return f"{microseconds(entry.median)}{times}\n[dim]{escape(entry.contender)}[/]"


def case_table(benchmark: str, cases: Sequence[CaseResult], caption: str) -> Table:
    """A table of cases with columns for the parameters in which they differ; the others are in its title."""
    shared = ", ".join(f"{name} {value}" for name, value in constant(cases).items())
    return table(f"{benchmark}: {shared}", caption, right=varying(cases), no_wrap=True)


def values(case: CaseResult, parameters: Sequence[str]) -> list[str]:
    """The cells of those columns."""
    return [escape(text(case.params.get(name))) for name in parameters]


def speed(ratio: float | None, interval: Interval = NO_INTERVAL) -> str:
    """How many times as fast; below it the interval, where there is one."""
    if not ratio:
        return "–"
    return f"×{ratio:.2f}" + ("" if None in interval else f"\n[dim]{interval.low:.2f}–{interval.high:.2f}[/]")
