"""Rendering a report and writing its two files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...launch.disk import why
from ..documents.params import text
from ..records import Record, RecordError
from ..style import pages
from .sections.section import Section, section
from .sections.setup import setup_exchanges


def write_report(records: Sequence[Record], html: Path | None, markdown: Path | None, with_published: bool = False) -> None:
    """Write the report of `records` to the files that are named; raises `RecordError` when a file cannot be written."""
    sections = [section(record, number, with_published) for number, record in enumerate(records, start=1)]
    if html:
        _write(html, _render("report.html.j2", sections))
    if markdown:
        _write(markdown, _render("report.md.j2", sections))


def _render(template: str, sections: Sequence[Section]) -> str:
    return pages.render("parhelion.tools.reporting", template, {"param": text, "setup_exchanges": setup_exchanges}, sections=sections)


def _write(path: Path, page: str) -> None:
    try:
        pages.write(path, page)
    except OSError as error:
        raise RecordError(f"cannot write {path}: {why(error, path)}") from None
