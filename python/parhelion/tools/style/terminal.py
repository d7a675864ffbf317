"""What commands print: one look for notes, for what is good and bad, and for tables."""

import os
from collections.abc import Iterable
from typing import Any, Literal

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.theme import Theme

THEME = Theme({"note": "yellow", "good": "bold green", "bad": "bold red"})
PIPE_WIDTH = 170
UNLIMITED = 10_000


def console(stream: Any) -> Console:
    """Where a command prints. A pipe or a file has the width that COLUMNS says; else 80 columns would fold most tables."""
    known = stream.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    return Console(file=stream, width=None if known else PIPE_WIDTH, highlight=False, soft_wrap=False, theme=THEME)


def table(title: str = "", caption: str | None = None, left: Iterable[str] = (), right: Iterable[str] = (), **how: Any) -> Table:
    """A table with its first columns, words to the left, figures to the right; `how` is said of each."""
    made = Table(title=escape(title) or None, caption=caption, title_justify="left", caption_justify="left")
    sides: tuple[tuple[Literal["left", "right"], Iterable[str]], ...] = (("left", left), ("right", right))
    for justify, names in sides:
        for name in names:
            made.add_column(escape(name), justify=justify, **how)
    return made


def width(where: Console, shown: Table) -> int:
    """How wide a table would like to be."""
    return Measurement.get(where, where.options.update(max_width=UNLIMITED), shown).maximum
