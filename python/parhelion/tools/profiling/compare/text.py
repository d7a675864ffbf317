"""Two profiles side by side, for people."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...comparing.text import changes_table
from ...style.words import percent
from ..shares import TABLES
from .difference import Difference, ProfileComparison


def show(found: ProfileComparison, console: Console, most: int) -> None:
    """What changed most, first; then what changed around it."""
    for side, each in zip("AB", found.profiles, strict=True):
        console.print(f"{side}: {each.name}, {each.samples} samples in {each.seconds:.2f} s of {len(each.ranks)} ranks", markup=False)
    for rank in found.ranks[:most]:
        console.print(f"[bold]rank {rank.rank} changed apart from the others:[/] {escape(_what(rank))}", soft_wrap=True)
    for name, (title, _) in TABLES.items():
        shown = [each for each in getattr(found, name) if each.shown][:most]
        console.print(f"[bold]{title}[/]" + ("" if shown else ": nothing beyond what sampling explains"))
        if shown:
            console.print(_table(shown))
    console.print(
        changes_table("around them", found.changes) if found.changes else "nothing that was recorded changed around them"
    )


def _what(each: Difference) -> str:
    kind = "asleep in " if each.key.part == "asleep" else ""
    return f"{kind}{each.key.name} {percent(each.first)} → {percent(each.second)} of its time"


def _table(shown: Sequence[Difference]) -> Table:
    table = Table()
    for name in ("A", "B", "B − A", "what", "in"):
        table.add_column(name, justify="left" if name in ("what", "in") else "right", overflow="fold")
    for each in shown:
        color = "red" if each.change > 0 else "green"
        where = each.key.library if each.key.symbol else each.key.part if each.key.library else ""
        change = f"[{color}]{each.change * 100:+.1f} points[/]"
        table.add_row(percent(each.first), percent(each.second), change, escape(each.key.name), escape(where))
    return table
