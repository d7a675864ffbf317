"""Rendering a report and writing its two files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..documents.params import text
from ..records import Record, RecordError
from ..style import pages
from .sections.section import Section, section
from .sections.setup import setup_exchanges


def write_report(records: Sequence[Record], html: Path | None, markdown: Path | None, with_published: bool = False) -> None:
    """Write the report of `records` to the files that are named; raises `RecordError` when a file cannot be written."""
    sections = [section(record, number, with_published) for number, record in enumerate(records, start=1)]
    if html:
        pages.write(html, _render("report.html.j2", sections), RecordError)
    if markdown:
        pages.write(markdown, _render("report.md.j2", sections), RecordError)


def _render(template: str, sections: Sequence[Section]) -> str:
    return pages.render("parhelion.tools.reporting", template, {"param": text, "setup_exchanges": setup_exchanges}, sections=sections)
