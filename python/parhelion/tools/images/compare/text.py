"""A comparison of two images on the terminal."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...comparing.comparison import Row
from ...style.terminal import table
from ...style.words import microseconds
from .comparison import ImageComparison
from .page import MOST_CHANGED, figure, headline, multiple

COLORS = {"probable": "bad", "possible": "note", "hardly": "dim"}


def show(found: ImageComparison, console: Console, most: int) -> None:
    """The headline, causes, then what changed most."""
    for side, image in zip("AB", found.images, strict=True):
        console.print(f"{side}: {image.image.image}, {image.image.ranks} ranks, {image.image.created}", markup=False)
    console.print(escape(headline(found)), style="bold", soft_wrap=True)
    console.print("what could be why, most probable first:" if found.causes else "nothing that was recorded differs around the figures")
    for number, cause in enumerate(found.causes[:most], start=1):
        console.print(f"{number}. [{COLORS[cause.likelihood]}]{cause.likelihood}[/]: {escape(cause.title)}", soft_wrap=True)
        for why in cause.why:
            console.print(f"     {why}", markup=False, soft_wrap=True)
    if len(found.causes) > most:
        console.print(f"   … and {len(found.causes) - most} more in the page")
    if found.changed:
        console.print(_table(found))
    for reason in found.missing:
        console.print(f"not compared: {reason}", markup=False, soft_wrap=True)


def _ends(row: Row) -> list[str]:
    return ["–".join(map(multiple, row.difference.interval))]


def _table(found: ImageComparison) -> Table:
    shown = table("what changed most, µs; ratio above 1: B is slower", left=("figure",), overflow="fold")
    for name in ("A", "B", "B / A", "95 %"):
        shown.add_column(name, justify="right")
    for benchmark, row in found.changed[:MOST_CHANGED]:
        cells = [figure(found, benchmark, row), *map(microseconds, row.medians), multiple(row.difference.ratio), *_ends(row)]
        shown.add_row(*map(escape, cells))
    return shown
