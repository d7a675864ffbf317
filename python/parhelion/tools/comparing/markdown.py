"""A comparison as Markdown, for a pull request."""

from ..documents.params import text, varying
from ..statistics.verdict import Verdict
from ..style.pages import render
from .columns import COLUMNS
from .comparison import Comparison

ICONS = {Verdict.SLOWER: "🔴", Verdict.FASTER: "🟢", Verdict.NO_DIFFERENCE: "⚪", Verdict.NOT_ENOUGH: "❔"}


def markdown(comparison: Comparison) -> str:
    """Verdicts, the cases that changed, and what changed around them."""
    parameters = varying([row.case for row in comparison.rows])
    return render("parhelion.tools.comparing", "comparison.md.j2", {"param": text}, comparison=comparison, parameters=parameters, columns=COLUMNS,
                  icons=ICONS, verdicts=list(Verdict))  # fmt: skip
