"""Blocks of comparisons (records, software images, profiles) and histories. Ratios are B / A: above 1, B is slower."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ..analyze.comparison import Change, Comparison, Row
from ..analyze.results import case_label, text, varying, wording
from ..analyze.images import Fact, ImageComparison
from ..analyze.profile import TABLES, ProfileComparison, ShareChange
from ..analyze.history import LEAST_RUNS, ChangePoint, History, Series, Turn
from ..analyze.statistics import DIFFERENT, Kind, Verdict
from ..analyze.words import microseconds, p_value, percent, ratio, ratios, significant
from . import Block, Cell, Drawing, Items, Page, Section, Table, Text, Word, facts, note, plots
from .results import published_layout, section

COLORS = {Verdict.SLOWER: "slower", Verdict.FASTER: "faster", Verdict.NO_DIFFERENCE: "", Verdict.NOT_ENOUGH: "note"}
ICONS = {Verdict.SLOWER: "🔴 ", Verdict.FASTER: "🟢 ", Verdict.NO_DIFFERENCE: "⚪ ", Verdict.NOT_ENOUGH: "❔ "}
CHANGES = {"behavior": "messages and choices"}
NOTES = {
    Kind.PAIRS: "launches of both sides are interleaved: {} are compared pair by pair",
    Kind.RUNS: "runs of a side differ by more than their launches do: in {} runs were compared, not launches",
    Kind.BATCHES: "one side has a single launch in {}: no interval, and a difference may come from the launch itself; measure with --launches 10",
}
SMALL = (
    "in {count} of {total} timings B lies within {margin:.0%} of A, although 1 is outside of the 95 % interval: without any change, chance does that in "
    "{chance:.2g} of {total}, and two runs always differ by a few percent; a difference counts from {least:.0%} on, at {alpha:.0%} over all timings together"
)


def comparison(found: Comparison, show_all: bool, icons: bool = False) -> list[Block]:
    sides = [Text(f"{each.name}, {each.launches} launches", "", f"{side}:") for side, each in zip("AB", found.sets, strict=True)]
    shown = [row for row in found.rows if show_all or row.verdict in DIFFERENT]
    return [
        *sides,
        *([changed("the machines differ; all ratios below include that", found.machines)] if found.machines else []),
        *([rows_table(shown, f"B against A, µs per {wording(found.sets[0].records[0].run.benchmark).of}; ratio above 1: B is slower", icons)] if shown else []),
        counts([found], found.rules.margin, "" if show_all else " (--all shows every case)"),
        *(note(each) for each in notes(found)),
        *(note(each, f" on {side}") for side, records in zip("AB", found.sets, strict=True) for each in records.remarks),
        *(Text(", ".join(names), "bad", f"failed in {side}:") for side, names in found.failed.items() if names),
        *(Text(", ".join(names), "", f"only in {side}:") for side, names in found.only.items() if names),
        *(changed(CHANGES.get(kind, kind), each) for kind, each in found.changes.items() if each),
        *([] if any(found.changes.values()) else [Text("no recorded difference of environment, ranks or libraries")]),
    ]


def comparison_page(found: Comparison) -> Page:
    return Page(f"{found.sets[1].name} against {found.sets[0].name}", "B against A", comparison(found, True, icons=True))


def counts(every: Sequence[Comparison], margin: float, more: str = "") -> Text:
    told = {verdict: sum(each.count(verdict) for each in every) for verdict in Verdict}
    return Text(", ".join(f"{count} {verdict}{f' ({margin:.0%})' if verdict is Verdict.NO_DIFFERENCE else ''}" for verdict, count in told.items()) + more, "bold")


def rows_table(rows: Sequence[Row], title: str = "", icons: bool = False) -> Table:
    parameters = varying([row.case for row in rows])
    made = [[*(text(row.case.params.get(name)) for name in parameters), row.variant, *_judged(row, icons)] for row in rows]
    return Table([*parameters, "variant", "A", "B", "B / A", "95 % interval", "p", "verdict"], made, len(parameters) + 1, title)


def _judged(row: Row, icons: bool) -> list[Word]:
    found, color = row.difference, COLORS[row.verdict]
    medians = [Cell(microseconds(each), sort=each) for each in row.medians]
    return [*medians, Cell(ratio(found.ratio), kind=color), ratios(found.interval), p_value(found.p_adjusted),
            Cell((ICONS[row.verdict] if icons else "") + str(row.verdict) + (f": {found.why}" if found.why else ""), kind=color)]


def notes(found: Comparison) -> list[str]:
    every = [row.difference for row in found.rows]
    kinds = {kind: sum(each.kind is kind for each in every) for kind in Kind}
    told = [NOTES[kind].format(f"{count} of {len(every)} timings") for kind, count in kinds.items() if count and kind in NOTES]
    stated = sum(bool(each.states) for each in every)
    if stated:
        told.append(f"core-to-core latency had two states in {stated} of {len(every)} timings: near was compared with near, and far with far")
    small = [row for row in found.rows if row.verdict is Verdict.NO_DIFFERENCE and not _holds_one(row)]
    if small:
        told.append(SMALL.format(count=len(small), total=len(every), chance=0.05 * len(every), **asdict(found.rules)))
    if any(row.verdict in DIFFERENT for row in found.rows) and not kinds[Kind.PAIRS] + kinds[Kind.RUNS]:
        told.append("one side was measured after the other: a drift of the machine looks like a change; `bench … --against` interleaves both")
    if found.count(Verdict.NOT_ENOUGH) and not any(each.single_launch for each in every):
        told.append("if samples are too few, take more launches: --launches 10")
    return told


def _holds_one(row: Row) -> bool:
    low, high = row.difference.interval
    return low is None or high is None or low <= 1 <= high


def changed(kind: str, found: Sequence[Change], head: tuple[str, str, str] = ("", "A", "B"), fold: bool = True) -> Table:
    rows = [(each.name, each.first or "–", each.second or "–") for each in found]
    return facts(rows, head, f"{kind.capitalize()}: {len(found)} changed" if fold else "", f"changed: {kind}")


MOST_CHANGED, MOST_PROFILE = 12, 8
LIKELY = {"probable": "bad", "possible": "note", "hardly": "meta"}
LABELS = ("network", "reservation", "notes")


def images(found: ImageComparison, most: int = 1000) -> list[Block]:
    causes = [(Text(each.title, LIKELY[each.likelihood], f"{each.likelihood}:"), each.why) for each in found.causes]
    return [
        *(Text(f"{image.image.image}, {image.image.ranks} ranks, {image.image.created}", "", f"{side}:") for side, image in zip("AB", found.images, strict=True)),
        Text(headline(found), "bold"),
        *([Text("likely causes:"), Items(causes[:most], ordered=True)] if causes else [Text(around(found))]),
        *([Text(f"… and {len(causes) - most} more in the page")] if len(causes) > most else []),
        *([_figures([(figure(found, *each), each[1]) for each in found.changed[:MOST_CHANGED]])] if found.changed else []),
        *(Text(reason, "", "not compared:") for reason in found.missing),
    ]


def images_page(found: ImageComparison) -> Page:
    named = [each.image.image for each in found.images]
    kinds: dict[str, list[Fact]] = {}
    for difference in found.differences:
        kinds.setdefault(difference.kind, []).append(difference)
    taken = [facts([(fact.kind, fact.name, fact.first or "–", fact.second or "–") for fact in cause.facts], ("kind", "", "A", "B"), cause.title)
             for cause in found.causes if cause.facts]
    first = found.causes[0] if found.causes else None
    lead = "Most probable cause" if first and first.likelihood == "probable" else "First candidate"
    typical = "; ".join(f"{name}: {each:.2f}" for name, each in found.moved.items())
    return Page(f"{named[1]} against {named[0]}", "two software images", [
        Text(headline(found) + (f" {lead}: {first.title}." if first else ""), "bold"),
        Section("Likely causes", [Items([(Text(f"{each.title} ({each.likelihood})"), each.why) for each in found.causes], ordered=True)
                                  if found.causes else Text(around(found)), *section("Differences that belong to them", taken, "closed")]),
        Section("What changed", [counts(list(found.benchmarks.values()), 0.05), Text(f"{typical}. Above 1, B is slower.", "meta", "Typical ratio B / A:"),
                                 *([_figures([(figure(found, *each), each[1]) for each in found.changed[:MOST_CHANGED]])] if found.changed
                                   else [Text("No figure changed by more than launches vary.")]),
                                 *(Text(reason, "meta", "Not compared:") for reason in found.missing),
                                 *(Text(name, "bad", "Failed in B:") for name in found.failed)]),
        *section("In the published form", published_layout(found.published, len(found.published))),
        *(Section(f"{wording(name).title}: profiles side by side", profile_page(each)) for name, each in found.profiles.items()),
        Section("All differences", [changed(kind, listed) for kind, listed in kinds.items()]
                or [Text("Nothing that was recorded.")]),
        Section("All figures", [Section(f"{wording(name).title}: {len(each.rows)} figures", [rows_table(each.rows)], "closed")
                                for name, each in found.benchmarks.items()]),
        Section("The two images", [_two(found)]),
    ])


def _two(found: ImageComparison) -> Table:
    told = [each.image for each in found.images]
    channels = ["; ".join(f"{what}: {value}" for what, value in each.providers.items()) or "unknown" for each in told]
    return facts([("image", *(each.image for each in told)), ("measured", *(each.created for each in told)),
                  ("build, ranks", *(f"{each.build}, {each.ranks}" for each in told)),
                  *((name, *(each.labels.get(name, "–") for each in told)) for name in LABELS), ("channels", *channels),
                  ("command", *(" ".join(each.argv) for each in told))], ("", "A", "B"))


def headline(found: ImageComparison) -> str:
    slower, faster, unknown = (found.count(verdict) for verdict in (Verdict.SLOWER, Verdict.FASTER, Verdict.NOT_ENOUGH))
    few = f" {unknown} of {len(found.rows)} figures have too few samples to rule out 5 %: measure with --launches 10." if unknown else ""
    if not slower and not faster:
        return f"No difference was found in {len(found.rows)} figures.{few}"
    benchmark, row = found.changed[0]
    most = f"; most in {figure(found, benchmark, row)}: {multiple(row.difference.ratio)} times"
    return f"Of {len(found.rows)} figures, {slower} are slower and {faster} faster in B{most}.{few}"


def around(found: ImageComparison) -> str:
    if found.changed:
        return "No recorded difference explains the change: the machine may have drifted between the two runs."
    count = len(found.differences)
    return f"No figure changed. {count or 'No'} difference{'s' if count != 1 else ''} of the environment {'are' if count != 1 else 'is'} listed below."


def multiple(value: float | None) -> str:
    return "–" if not value else f"{value:.3f}" if value < 10 else significant(value)


def figure(found: ImageComparison, benchmark: str, row: Row) -> str:
    return f"{benchmark}, {case_label(row.case, [each.case for each in found.benchmarks[benchmark].rows])}: {row.variant}"


def _figures(rows: Sequence[tuple[str, Row]]) -> Table:
    made: list[list[Word]] = [[name, *(Cell(microseconds(each), sort=each) for each in row.medians), Cell(multiple(row.difference.ratio), kind=COLORS[row.verdict]),
             "–".join(map(multiple, row.difference.interval)), Cell(str(row.verdict), kind=COLORS[row.verdict])] for name, row in rows]
    return Table(("figure", "A, µs", "B, µs", "B / A", "95 % interval", "verdict"), made, title="what changed most; ratio above 1: B is slower")


def profiles(found: ProfileComparison, most: int) -> list[Block]:
    sides = [Text(f"{each.name}, {each.samples} samples in {each.seconds:.2f} s of {len(each.ranks)} ranks", "", f"{side}:")
             for side, each in zip("AB", found.profiles, strict=True)]
    made: list[Block] = [*sides, *_lone_ranks(found, most)]
    for name, (title, _) in TABLES.items():
        shown = [each for each in getattr(found, name) if each.shown][:most]
        made.append(_shares(shown, title) if shown else Text(f"{title}: no difference beyond sampling errors"))
    return [*made, changed("environment", found.changes) if found.changes else Text("no recorded difference of environment or ranks")]


def profile_page(found: ProfileComparison) -> list[Block]:
    """Shares by library, with kernel and libc charged to their callers; `parhelion compare` of the profiles shows functions."""
    return [_shares(found.charged[:MOST_PROFILE], ""), *_lone_ranks(found, 3)]


def _lone_ranks(found: ProfileComparison, most: int) -> list[Block]:
    return [Text(f"{'asleep in ' if each.key.part == 'asleep' else ''}{each.key.name} {percent(each.first)} → {percent(each.second)} of its time", "bold",
                 f"rank {each.rank} changed more than the others:") for each in found.ranks[:most]]


def _shares(shown: Sequence[ShareChange], title: str) -> Table:
    rows: list[list[Word]] = [[each.key.name, each.key.library if each.key.symbol else each.key.part if each.key.library else "", percent(each.first), percent(each.second),
             Cell(f"{each.change * 100:+.1f}", kind="slower" if each.change > 0 else "faster", sort=each.change)] for each in shown]
    return Table(("name", "in", "A", "B", "B − A, points"), rows, 2, title)


MOST_AROUND, MOST_PLOTS = 12, 60


def history(found: History, most: int) -> list[Block]:
    short = f", {found.short} of them with fewer than {LEAST_RUNS} runs, too few to tell" if found.short else ""
    slower = sum(point.slower for point in found.latest)
    last = Text(f"{slower} slower, {len(found.latest) - slower} faster", "bad" if slower else "good", "last changes:")
    return [Text(f"{found.runs} runs, {len(found.series)} figures{short}"), *([] if found.turns else [Text("no figure changed")]),
            *(_turn(turn, found, most) for turn in found.turns), *([last] if found.latest else [])]


def history_page(found: History, store: Path) -> Page:
    by_series: dict[int, list[ChangePoint]] = {}
    for turn in found.turns:
        for point in turn.points:
            by_series.setdefault(id(point.series), []).append(point)
    every = sorted(by_series.values(), key=lambda points: -max(abs(point.ratio - 1) for point in points))
    drawn: list[Block] = [Drawing(plots.history(each[0].series.seconds, sorted(point.place for point in each), f"h{number}"), label(each[0].series, found.series))
                          for number, each in enumerate(every[:MOST_PLOTS])]
    drawn += [Text(f"{len(every) - MOST_PLOTS} more such figures are left out.", "meta")] if len(every) > MOST_PLOTS else []
    return Page(f"History of {store}", f"{found.runs} runs", [*history(found, 10_000), *section("Figures that changed", drawn)])


def label(series: Series, among: Sequence[Series]) -> str:
    cases = [each.case for each in among if each.benchmark == series.benchmark]
    builds = {each.build for each in among}
    return ", ".join([series.benchmark, case_label(series.case, cases), *([series.build] if len(builds) > 1 else [])]) + f": {series.variant}"


def _turn(turn: Turn, found: History, most: int) -> Section:
    slower = sum(point.slower for point in turn.points)
    title = f"{turn.record.id} {turn.record.run.created}: {slower} slower, {len(turn.points) - slower} faster, typically {significant(turn.typical)} times"
    rows: list[list[Word]] = [[label(point.series, found.series), microseconds(point.before_s), microseconds(point.after_s),
                               Cell(ratio(point.ratio), kind="slower" if point.slower else "faster"), ratios(point.interval),
                               str(len(point.series.seconds) - point.place)] for point in turn.points[:most]]
    left_out, more = len(turn.points) - most, len(turn.around) - MOST_AROUND
    caption = f"{left_out} more figures are not shown" if left_out > 0 else ""
    around = changed("environment", turn.around[:MOST_AROUND], ("", "before", "since"), fold=False)
    return Section(title, [
        Table(("figure", "before, µs", "since, µs", "since / before", "95 %", "runs since"), rows, caption=caption),
        around if turn.around else Text("no recorded difference of environment, ranks or libraries"),
        *([Text(f"… and {more} more facts: parhelion compare {turn.before.path.parent} {turn.record.path.parent}")] if more > 0 else []),
    ])
