"""The table of `bench apps`: what exchanges take of a step, with each way to exchange."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from ..documents.applications import applications
from ..documents.results import results
from ..records import Record
from ..style.terminal import table

WORDS = 4  # columns that are no figures


def print_applications(console: Console, record: Record) -> None:
    """A row per application and contender."""
    form = applications(results(record.cases))
    if form is None:
        return
    shown = table("what exchanges take", escape(form.caption), left=form.head[:WORDS], right=form.head[WORDS:])
    for row in form.rows:
        shown.add_row(*map(escape, row))
    console.print(shown)
