"""Rendering a report and writing its two files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from ..launch.disk import why
from ..records import Record, RecordError
from .section import Section, section
from .words import filters


def write_report(records: Sequence[Record], html: Path | None, markdown: Path | None, with_published: bool = False) -> None:
    """Write the report of `records` to the files that are named; raises `RecordError` when a file cannot be written."""
    sections = [section(record, number, with_published) for number, record in enumerate(records, start=1)]
    if html:
        _write(html, render("report.html.j2", sections))
    if markdown:
        _write(markdown, render("report.md.j2", sections))


def render(template: str, sections: Sequence[Section]) -> str:
    """One of the templates; whatever a record holds is escaped."""
    environment = Environment(
        loader=PackageLoader("parhelion.report"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    return environment.get_template(template).render(sections=sections)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise RecordError(f"cannot write {path}: {why(error, path)}") from None
