"""The page of a comparison: one self-contained HTML file, and the same in Markdown."""

from typing import Any

from ...comparing.comparison import Comparison, Row
from ...documents.params import case_label, text
from ...documents.wording import wording
from ...profiling.show.page import parts, points
from ...statistics.verdict import Verdict
from ...style import pages
from ...style.words import significant
from .comparison import ImageComparison
from .differences import Difference

ICONS = {Verdict.SLOWER: "🔴", Verdict.FASTER: "🟢", Verdict.NO_DIFFERENCE: "⚪", Verdict.NOT_ENOUGH: "❔"}
MOST_CHANGED, MOST_PROFILE = 12, 8
LABELS = ("network", "reservation", "notes")


def html(found: ImageComparison) -> str:
    """The page; whatever was recorded is escaped."""
    profiles = {name: parts(each.profiles) for name, each in found.profiles.items()}
    return _render("image.html.j2", found, profiles=profiles, any_profile=next(iter(profiles.values()), None))


def markdown(found: ImageComparison) -> str:
    """The same for a wiki or a pull request."""
    return _render("image.md.j2", found)


def headline(found: ImageComparison) -> str:
    """One sentence: is B slower, where most, and why."""
    slower, faster = (found.count(verdict) for verdict in (Verdict.SLOWER, Verdict.FASTER))
    total = sum(len(each.rows) for each in found.benchmarks.values())
    if not slower and not faster:
        return f"No difference was found in {total} figures."
    benchmark, row = found.changed[0]
    most = f"; most in {figure(found, benchmark, row)}: {multiple(row.difference.ratio)} times"
    return f"Of {total} figures, {slower} are slower and {faster} faster in B{most}."


def multiple(value: float | None) -> str:
    """A ratio that may be far from 1."""
    return "–" if not value else f"{value:.3f}" if value < 10 else significant(value)


def figure(found: ImageComparison, benchmark: str, row: Row) -> str:
    """A figure by benchmark, case and contender."""
    cases = [each.case for each in found.benchmarks[benchmark].rows]
    return f"{benchmark}, {case_label(row.case, cases)}: {row.contender}"


def _render(template: str, found: ImageComparison, **more: Any) -> str:
    return pages.render(
        "parhelion.tools.images.compare", template, {"param": text, "points": points, "multiple": multiple},
        found=found, headline=headline(found), icons=ICONS, verdicts=list(Verdict), labels=LABELS, title=lambda name: wording(name).title,
        changed=[(figure(found, *each), each[1]) for each in found.changed[:MOST_CHANGED]], most_profile=MOST_PROFILE,
        all_rows={name: _rows(each) for name, each in found.benchmarks.items()}, kinds=_by_kind(found.differences), **more,
    )  # fmt: skip


def _rows(compared: Comparison) -> list[tuple[str, Row]]:
    cases = [row.case for row in compared.rows]
    return [(case_label(row.case, cases), row) for row in compared.rows]


def _by_kind(differences: list[Difference]) -> dict[str, list[Difference]]:
    kinds: dict[str, list[Difference]] = {}
    for each in differences:
        kinds.setdefault(each.kind, []).append(each)
    return kinds
