"""A comparison of two images: its page, one self-contained HTML file, the same in Markdown, and on the terminal."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...comparing.comparison import Comparison, Row
from ...documents.params import case_label, text, wording
from ...statistics.verdict import Verdict
from ...style import pages
from ...style.terminal import table
from ...style.words import microseconds, significant
from .comparison import ImageComparison
from .evidence import Difference

ICONS = {Verdict.SLOWER: "🔴", Verdict.FASTER: "🟢", Verdict.NO_DIFFERENCE: "⚪", Verdict.NOT_ENOUGH: "❔"}
MOST_CHANGED, MOST_PROFILE = 12, 8
LABELS = ("network", "reservation", "notes")


def html(found: ImageComparison) -> str:
    """The page; whatever was recorded is escaped."""
    return _render("image.html.j2", found)


def markdown(found: ImageComparison) -> str:
    """The same for a wiki or a pull request."""
    return _render("image.md.j2", found)


def headline(found: ImageComparison) -> str:
    """Is B slower, where most, and how many figures tell nothing."""
    slower, faster, unknown = (found.count(verdict) for verdict in (Verdict.SLOWER, Verdict.FASTER, Verdict.NOT_ENOUGH))
    few = f" {unknown} of {found.total} figures have too few samples to rule out 5 %: measure with --launches 10." if unknown else ""
    if not slower and not faster:
        return f"No difference was found in {found.total} figures.{few}"
    benchmark, row = found.changed[0]
    most = f"; most in {figure(found, benchmark, row)}: {multiple(row.difference.ratio)} times"
    return f"Of {found.total} figures, {slower} are slower and {faster} faster in B{most}.{few}"


def around(found: ImageComparison) -> str:
    """What stands where no cause does."""
    if found.changed:
        return "Nothing that was recorded differs around the figures: the machine may have drifted between the two runs."
    count = len(found.differences)
    return f"There is nothing to explain. {count or 'No'} difference{'s' if count != 1 else ''} around the figures {'are' if count != 1 else 'is'} listed below."


def points(change: float) -> str:
    """A difference of shares."""
    return f"{change * 100:+.1f}".replace("-", "−")


def multiple(value: float | None) -> str:
    """A ratio that may be far from 1."""
    return "–" if not value else f"{value:.3f}" if value < 10 else significant(value)


def figure(found: ImageComparison, benchmark: str, row: Row) -> str:
    """A figure by benchmark, case and contender."""
    cases = [each.case for each in found.benchmarks[benchmark].rows]
    return f"{benchmark}, {case_label(row.case, cases)}: {row.contender}"


def _render(template: str, found: ImageComparison) -> str:
    return pages.render(
        "parhelion.tools.images.compare", template, {"param": text, "points": points, "multiple": multiple},
        found=found, headline=headline(found), around=around(found), icons=ICONS, verdicts=list(Verdict), labels=LABELS, title=lambda name: wording(name).title,
        changed=[(figure(found, *each), each[1]) for each in found.changed[:MOST_CHANGED]], most_profile=MOST_PROFILE,
        all_rows={name: _rows(each) for name, each in found.benchmarks.items()}, kinds=_by_kind(found.differences),
    )  # fmt: skip


def _rows(compared: Comparison) -> list[tuple[str, Row]]:
    cases = [row.case for row in compared.rows]
    return [(case_label(row.case, cases), row) for row in compared.rows]


def _by_kind(differences: list[Difference]) -> dict[str, list[Difference]]:
    kinds: dict[str, list[Difference]] = {}
    for each in differences:
        kinds.setdefault(each.kind, []).append(each)
    return kinds


COLORS = {"probable": "bad", "possible": "note", "hardly": "dim"}


def show(found: ImageComparison, console: Console, most: int) -> None:
    """The headline, causes, then what changed most."""
    for side, image in zip("AB", found.images, strict=True):
        console.print(f"{side}: {image.image.image}, {image.image.ranks} ranks, {image.image.created}", markup=False)
    console.print(escape(headline(found)), style="bold", soft_wrap=True)
    console.print("likely causes:" if found.causes else around(found), soft_wrap=True)
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


def _table(found: ImageComparison) -> Table:
    shown = table("what changed most, µs; ratio above 1: B is slower", left=("figure",), overflow="fold")
    for name in ("A", "B", "B / A", "95 %"):
        shown.add_column(name, justify="right")
    for benchmark, row in found.changed[:MOST_CHANGED]:
        interval = "–".join(map(multiple, row.difference.interval))
        cells = [figure(found, benchmark, row), *map(microseconds, row.medians), multiple(row.difference.ratio), interval]
        shown.add_row(*map(escape, cells))
    return shown
