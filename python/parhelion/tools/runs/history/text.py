"""A store's history on the terminal."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...documents.params import case_label
from ...style.terminal import table
from ...style.words import microseconds, ratio, ratios, significant
from .changes import LEAST_RUNS, Series
from .find import History, Turn

MOST_AROUND = 12


def show(found: History, console: Console, most: int) -> None:
    """Run by run, the latest first: what changed in the figures, and around them."""
    told = f"{found.runs} runs, {len(found.series)} figures"
    told += f", {found.short} of them with fewer than {LEAST_RUNS} runs, too few to tell" if found.short else ""
    console.print(told, markup=False)
    if not found.turns:
        console.print("no figure changed")
    for turn in found.turns:
        _show(turn, found, console, most)
    slower = sum(point.slower for point in found.latest)
    if found.latest:
        console.print(f"last changes: [{'bad' if slower else 'good'}]{slower} slower[/], {len(found.latest) - slower} faster")


def label(series: Series, among: list[Series]) -> str:
    """A series by what tells it from the others of its benchmark."""
    cases = [each.case for each in among if each.benchmark == series.benchmark]
    flavors = {each.flavor for each in among}
    return ", ".join([series.benchmark, case_label(series.case, cases), *([series.flavor] if len(flavors) > 1 else [])]) + f": {series.contender}"


def times(factor: float) -> str:
    """A ratio in words: 1.08 times, or for what became faster 0.92 times."""
    return f"{significant(factor)} times"


def _show(turn: Turn, found: History, console: Console, most: int) -> None:
    slower = sum(point.slower for point in turn.points)
    counts = f"{slower} slower, {len(turn.points) - slower} faster, typically {times(turn.typical)}"
    console.print(f"\n[bold]{escape(turn.record.id)}[/] {escape(turn.record.run.created)}: {counts}", soft_wrap=True)
    console.print(_table(turn, found, most))
    for change in turn.around[:MOST_AROUND]:
        console.print(f"  {change.name}: {change.first or '–'} → {change.second or '–'}", markup=False, soft_wrap=True)
    if len(turn.around) > MOST_AROUND:
        console.print(f"  … and {len(turn.around) - MOST_AROUND} facts more: parhelion compare {turn.before.path.parent} {turn.record.path.parent}", markup=False)
    if not turn.around:
        console.print("  nothing that was recorded changed around the figures")


def _table(turn: Turn, found: History, most: int) -> Table:
    left_out = len(turn.points) - most
    shown = table(caption=f"{left_out} figures more are not shown" if left_out > 0 else None, left=("figure",), overflow="fold")
    for name in ("before, µs", "since, µs", "since / before", "95 %", "runs since"):
        shown.add_column(name, justify="right")
    for point in turn.points[:most]:
        cells = [label(point.series, found.series), microseconds(point.before_s), microseconds(point.after_s), ratio(point.ratio),
                 ratios(point.interval), str(len(point.series.seconds) - point.place)]  # fmt: skip
        shown.add_row(*map(escape, cells))
    return shown
