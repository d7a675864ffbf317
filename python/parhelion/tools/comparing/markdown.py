"""A comparison as Markdown, for a pull request."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..documents.params import varying
from ..reporting.words import filters
from ..statistics.verdict import Verdict
from .comparison import Comparison

ICONS = {Verdict.SLOWER: "🔴", Verdict.FASTER: "🟢", Verdict.NO_DIFFERENCE: "⚪", Verdict.NOT_ENOUGH: "❔"}


def markdown(comparison: Comparison) -> str:
    """Verdicts, the cases that changed, and what changed around them."""
    environment = Environment(
        loader=PackageLoader("parhelion.tools.comparing"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=False,
    )  # fmt: skip
    environment.filters.update(filters)
    parameters = varying([row.case for row in comparison.rows])
    template = environment.get_template("comparison.md.j2")
    return template.render(comparison=comparison, parameters=parameters, icons=ICONS, verdicts=list(Verdict))
