"""Rendering a report and writing its two files."""

from collections.abc import Sequence
from pathlib import Path

from ..documents.params import text
from ..records import Record, RecordError
from ..style import pages
from .sections.section import section
from .sections.setup import setup_exchanges


def write_report(records: Sequence[Record], html: Path | None, markdown: Path | None, with_published: bool = False) -> None:
    """Write the report of `records` to the files that are named; raises `RecordError` when a file cannot be written."""
    sections = [section(record, number, with_published) for number, record in enumerate(records, start=1)]
    filters = {"param": text, "setup_exchanges": setup_exchanges}
    for path, template in ((html, "report.html.j2"), (markdown, "report.md.j2")):
        if path:
            pages.write(path, pages.render("parhelion.tools.reporting", template, filters, sections=sections), RecordError)
