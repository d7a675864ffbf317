"""Blocks of a record: results by case and variant, sweeps, published layouts, failures; blocks of a profile."""

from collections.abc import Callable, Sequence
from pathlib import PurePath

from ..analyze.results import BASELINE, OWN, LIBRARY, CaseResult, Entry, by_state, constant, variants, in_order, mean_speed, of_variant, over_floor, reasons, remarks, results, text, varying, with_seam, wording
from ..analyze.document import PublishedForm, applications, by_level, published_form
from ..analyze.sweep import FIGURES, LEAST_SIZES, WORDS, Matrix, MatrixRow, PublishedRow, Sweep, sweep
from ..record.read import Record, failed
from ..record.model import LEFT_OUT
from ..analyze.statistics import NO_INTERVAL, Interval, Ratio
from ..analyze.words import microseconds, percent, times, times_ends
from ..analyze.profile import TABLES, Shares, tables, waiting_share
from ..record.profile import Profile, RankProfile
from . import Block, Cell, Section, Table, Text, Word, note

Fits = Callable[[Table], bool]
SMALL_HELP = "µs per {}, median; ×: times as fast as {}; below: 95 % intervals and names; mean: geometric, under floor auto ÷ floor; a wider terminal shows every variant"
AUTO = "auto"
FASTEST = {"floor": "floor", OWN: "fastest own", BASELINE: "fastest by hand", LIBRARY: "other library"}
MOST_TABLES, MOST_ROWS = 3, 60
FAILED = Cell("FAILED", kind="bad")


def summary(record: Record, fits: Fits = lambda table: True) -> list[Block]:
    """Blocks at the end of a benchmark: one row per case, in tables that fit, then notes and failures."""
    cases, states = results(record.cases), by_state(record)
    sweeps = [(state, some, sweep(record, some)) for state, some in states]
    made: list[Block] = [] if cases else [Text("no case was finished")]
    for state, some, found in sweeps if cases else ():
        made += matrix(record.run.benchmark, found.matrix, state) if found.matrix else [
            *by_case(record.run.benchmark, some, fits, state), *seams(some, fits), *phases(some, state)]
    if not any(found.matrix for *_, found in sweeps):
        made += [*energy(cases, wording(record.run.benchmark).of), *troubles(cases)]
    if any("size" in case.params for case in cases):
        for state, _, found in sweeps:
            made += published_layout(found.published[:MOST_ROWS], len(found.published), state=state)
        made += breaks(sweep(record, cases))
    made += [note(each) for each in remarks(record, cases)]
    made.append(Text(f"record: {record.path}"))
    for state, some in states:
        made += _forms(record, some, state)
    return [*made, *_imports(record), *levels(cases), *failures(record)]


def _forms(record: Record, cases: Sequence[CaseResult], state: str) -> list[Block]:
    several = len({text(case.params.get("dataset")) for case in cases}) > 1 or any("/" in name for name in variants(cases))
    form = published_form(record.run.benchmark, in_order(cases)) if record.run.benchmark == "ghosts" or several else None
    form = None if record.run.benchmark == "halo" else form
    of_apps = applications(cases)
    return [*([form_table(form, beside("published form", state))] if form else []), *([form_table(of_apps, beside("time of exchanges", state))] if of_apps else [])]


def beside(title: str, state: str) -> str:
    return f"{title}, {state}" if state else title


def _imports(record: Record) -> list[Block]:
    parts = ("interpreter_s", "numpy_s", "mpi4py_and_mpi_init_s", "parhelion_s")
    told = [launch.imports for launch in record.launches if launch.imports]
    worst = {part: max(seconds) * 1e3 for part in parts if (seconds := [each[part]["max"] for each in told if part in each])}
    imports = ", ".join(f"{part[:-2].replace('_', ' ')} {ms:.1f} ms" for part, ms in worst.items())
    return [Text(f"imports, slowest rank: {imports}")] if imports else []


def form_table(form: PublishedForm, title: str = "", fold: str = "") -> Table:
    return Table(form.head, form.rows, form.names, title, form.caption, fold)


def failures(record: Record) -> list[Block]:
    alike: dict[tuple[str, str], list[int]] = {}
    for end in failed(record):
        alike.setdefault((str(end.status), end.message or ""), []).append(end.launch + 1)
    made: list[Block] = []
    for (status, message), launches in alike.items():
        which = f"launch{'es' if len(launches) > 1 else ''} {', '.join(map(str, launches))}"
        left_out = status.startswith(LEFT_OUT)
        made.append(Text(f"ranks of {which}: {status}", "note" if left_out else "bad", "note:" if left_out else "Error:"))
        made += [Text(message)] if message else []
    return made


def troubles(cases: Sequence[CaseResult]) -> list[Block]:
    kinds = {"failed": ("bad", "FAILED:"), "skipped": ("dim", "skipped:")}
    return [Text(f"{', '.join(sorted(names))}: {why}", *kinds[kind]) for (kind, why), names in reasons(cases).items()]


def by_case(benchmark: str, cases: Sequence[CaseResult], fits: Fits, state: str = "") -> list[Table]:
    names = [name for name in variants(cases) if any(name in case.entries and not case.entries[name].skipped for case in cases)]
    names = names or variants(cases)
    return _in_tables(names, lambda some: _of_variants(benchmark, cases, some, state), fits) or [short_table(benchmark, cases, state)]


def _in_tables(names: Sequence[str], table: Callable[[Sequence[str]], Table], fits: Fits) -> list[Table]:
    """Split variants into as few tables as fit; empty if more than `MOST_TABLES`."""
    for count in range(1, MOST_TABLES + 1):
        size = -(-len(names) // count)
        parts = [table(names[first : first + size]) for first in range(0, len(names), size)]
        if all(map(fits, parts)):
            return parts
    return []


def _of_variants(benchmark: str, cases: Sequence[CaseResult], names: Sequence[str], state: str) -> Table:
    rows, words = in_order(cases), wording(benchmark)
    ratio = f"; ×: times as fast as {words.base}" if words.compared else ""
    means = [mean_speed(of_variant(rows, name)) for name in names]
    floors = [over_floor(of_variant(rows, name)) for name in names]
    aside = [""] * (len(varying(cases)) - 1)
    foot: list[list[Word]] = [["geomean", *aside, *(_speed(*mean) for mean in means)]] if any(mean for mean, _ in means) and len(rows) > 1 else []
    foot += [["÷ floor", *aside, *(_over(each) for each in floors)]] if any(each.value for each in floors) else []
    return _case_table(benchmark, cases, names, [[_cell(case, name) for name in names] for case in rows],
                       f"µs per {words.of}, median{ratio}; below: 95 % confidence intervals" + ("; ÷ floor: time over copying alone, geometric mean" if len(foot) > 1 else ""),
                       foot, state=state)


def _case_table(benchmark: str, cases: Sequence[CaseResult], names: Sequence[str], cells: Sequence[Sequence[Word]], caption: str,
                foot: Sequence[Sequence[Word]], kind: str = "", state: str = "") -> Table:
    shared = ", ".join([*(f"{name} {value}" for name, value in constant(cases).items()), *([state] if state else [])])
    parameters = varying(cases)
    rows = [[*values(case, parameters), *each] for case, each in zip(in_order(cases), cells, strict=True)]
    return Table([*parameters, *names], rows, len(parameters), f"{benchmark}: {shared}", caption, kind=kind, foot=foot)


def values(case: CaseResult, parameters: Sequence[str]) -> list[Word]:
    return [text(case.params.get(name)) for name in parameters]


def short_table(benchmark: str, cases: Sequence[CaseResult], state: str = "") -> Table:
    words, rows = wording(benchmark), in_order(cases)
    roles = [role for role in FASTEST if any(case.of_role(role) for case in cases)]
    cells = [[_auto(case), *(_fastest(case, role) for role in roles)] for case in rows]
    own = _speed(*mean_speed([(case, case.of_role(OWN)) for case in rows]))
    foot = ["mean", *[""] * (len(varying(cases)) - 1), _speed(*mean_speed(of_variant(rows, AUTO))), *(own if role == OWN else _over(over_floor(of_variant(rows, AUTO))) if role == "floor" else "" for role in roles)]
    return _case_table(benchmark, cases, [AUTO, *(FASTEST[role] for role in roles)], cells, SMALL_HELP.format(words.of, words.base), [foot], "tight", state)


def seams(cases: Sequence[CaseResult], fits: Fits = lambda table: True) -> list[Table]:
    """Cost of the seam (`--seam`) by variant, or of `auto` alone if tables are too wide."""
    found = with_seam(cases)
    names = [name for name in variants(cases) if any(name in ratios for _, ratios in found)]
    parameters = [name for name in varying(cases) if name != "seam"]

    def table(names: Sequence[str]) -> Table:
        rows = [[*values(case, parameters), *(_speed(*ratios.get(name, Ratio())[:2]) for name in names)] for case, ratios in found]
        return Table([*parameters, *names], rows, len(parameters), "cost of the seam",
                     "time with it ÷ time without it, for the same ghosts; below: 95 % confidence intervals")

    return (_in_tables(names, table, fits) or [table([AUTO])]) if names else []


def energy(cases: Sequence[CaseResult], of: str) -> list[Table]:
    """Energy of the processors, if recorded; otherwise the launch facts give the reason."""
    found = [(case, entry) for case in in_order(cases) for entry in case.entries.values() if entry.energy_j is not None and not entry.failed]
    parameters = varying(cases)
    rows = [[*values(case, parameters), entry.variant, microseconds(entry.energy_j), f"{entry.energy_j / entry.median:.1f}" if entry.energy_j and entry.median else "–"]
            for case, entry in found]
    caption = "processors of all nodes (RAPL), idle parts and other programs included, memory and network not; mean over samples"
    return [Table([*parameters, "variant", f"µJ per {of}", "W"], rows, len(parameters) + 1, "energy", caption)] if found else []


def phases(cases: Sequence[CaseResult], state: str = "") -> list[Table]:
    """Time of each exchange phase by Comb's names, if recorded (`--case comb`, imported runs)."""
    found = [(case, entry, told) for case in in_order(cases) for entry in case.entries.values() if not entry.failed and (told := entry.phases_s)]
    names, parameters = list(dict.fromkeys(name for _, _, told in found for name in told)), varying(cases)
    rows = [[*values(case, parameters), entry.variant, *(microseconds(told.get(name)) for name in names), microseconds(sum(told.values()))]
            for case, entry, told in found]
    head = [*parameters, "variant", *(name.replace("_", "-") for name in names), "total"]
    caption = beside("µs, medians, mean over ranks; transports of the library: begin is post-send, end is wait-recv", state)
    return [Table(head, rows, len(parameters) + 1, "phases", caption)] if found else []


def _auto(case: CaseResult) -> Word:
    entry = case.entries.get(AUTO)
    if entry is None or not entry.median:
        return FAILED if entry and entry.failed else "–"
    speed = _speed(case.speed(AUTO), case.speed_interval(AUTO))
    return speed._replace(text=f"{microseconds(entry.median)} {speed.text}")


def _fastest(case: CaseResult, role: str) -> Word:
    entry = case.best(role)
    if entry is None:
        return "–"
    speed = f" {_speed(case.speed(entry.variant)).text}" if role in (OWN, LIBRARY) else ""
    return Cell(microseconds(entry.median) + speed, entry.variant)


WIDEST = 100.0


def telling(interval: Interval) -> Interval:
    """Return the interval, or none if its ends differ by more than a factor of `WIDEST`."""
    low, high = interval
    return interval if low is not None and high is not None and high <= WIDEST * low else NO_INTERVAL


def _speed(ratio: float | None, interval: Interval = NO_INTERVAL) -> Cell:
    if not ratio:
        return Cell("–")
    interval = telling(interval)
    return Cell(f"×{ratio:.2f}", "" if None in interval else f"{interval.low:.2f}–{interval.high:.2f}")


def _over(found: Ratio) -> Cell:
    """Time / floor time."""
    low, high = telling(found.interval)
    return Cell(f"{found.value:.2f}" if found.value else "–", "" if low is None or high is None else f"{low:.2f}–{high:.2f}")


def _cell(case: CaseResult, name: str) -> Word:
    entry = case.entries.get(name)
    if entry is None or entry.failed:
        return FAILED if entry else "–"
    if entry.summary is None:
        return Cell("skipped", kind="dim")
    speed, (low, high) = case.speed(name), telling(entry.summary.interval)
    known = f"{microseconds(low)}–{microseconds(high)}" if low is not None and high is not None else entry.summary.no_interval
    shown = microseconds(entry.median) + (f" ×{speed:.2f}" if speed else "")
    return Cell(shown, f"{known} {times_ends(telling(case.speed_interval(name)))}".rstrip(), "good" if case.fastest is entry else "")


def every_result(benchmark: str, cases: Sequence[CaseResult], state: str = "") -> list[Block]:
    words, parameters, names = wording(benchmark), varying(cases), variants(cases)
    ratio = f", and how many times as fast as {words.base}" if words.compared else ""
    head = [*parameters, "variant", "role", "µs", *(["× by hand"] if words.compared else [])]
    rows = [_result(case, case.entries[name], parameters, words.compared) for case in cases for name in names if name in case.entries]
    fold = beside(f"{len(cases)} case{'s' if len(cases) != 1 else ''} × {len(names)} variant{'s' if len(names) != 1 else ''}", state)
    made: list[Block] = [Table(head, rows, len(parameters) + 1, caption=f"Median, µs per {words.of}{ratio}; small: 95 % confidence intervals. "
                               "Bold: fastest of its case.", fold=fold)]
    if len(cases) > 1 and any(case.best_baseline for case in cases):
        means = [(name, *mean_speed(of_variant(cases, name))) for name in names]
        rows = [[name, times(mean), times_ends(ends), (over := _over(over_floor(of_variant(cases, name)))).text, over.small] for name, mean, ends in means]
        made.append(Table(("variant", "× by hand", "95 % interval", "÷ floor", "95 % interval"), rows,
                          fold=beside("Geometric mean over all cases, of every variant", state)))
    return made


def _result(case: CaseResult, entry: Entry, parameters: Sequence[str], compared: bool) -> list[Word]:
    who = Cell(entry.variant, kind=entry.role)
    time: Word = FAILED if entry.failed else Cell("skipped", kind="dim")
    if entry.summary and not entry.failed:
        low, high = entry.summary.interval
        known = f"{microseconds(low)}–{microseconds(high)}" if low is not None and high is not None else f"no interval: {entry.summary.no_interval}"
        time = Cell(microseconds(entry.median), known, "good" if case.fastest is entry else "", entry.median)
    speed = case.speed(entry.variant)
    ratio = [Cell(times(speed), times_ends(case.speed_interval(entry.variant)), sort=speed or 0.0)] if compared else []
    return [*values(case, parameters), who, entry.role, time, *ratio]


def matrix(benchmark: str, found: Matrix, state: str) -> list[Block]:
    reasons_of: dict[str, list[str]] = {}
    for row in found.rows:
        if row.reason:
            reasons_of.setdefault(row.reason, []).append(f"{row.mpi} over {row.network}")
    title = beside(f"{benchmark}, {found.variant}: {found.ran} of {len(found.rows)} combinations ran", state)
    caption = f"µs per {wording(benchmark).of}, median; all variants and cases: see the report or --json"
    table = Table(("MPI", "network", *found.columns), [[row.mpi, row.network, *_of_combination(row)] for row in found.rows], 2, title, caption)
    return [table, *(Text(f"{', '.join(who)}: {why}", "note", "cannot run:") for why, who in reasons_of.items())]


def _of_combination(row: MatrixRow) -> list[Word]:
    if row.reason and row.entries:
        return [Cell("cannot run", kind="dim"), *["–"] * (len(row.entries) - 1)]
    return [microseconds(entry.median) if entry and entry.median else FAILED if entry and entry.failed else "–" for entry in row.entries]


def published_layout(rows: Sequence[PublishedRow], count: int, fold: str = "", state: str = "") -> list[Block]:
    """Published layout: a row per image, network, reservation, notes and size."""
    if not rows:
        return []
    caption = "µs, mean(std): the digits in brackets are the standard deviation in units of the last digits; first call: the very " \
        "first after MPI_Init, which connects the ranks"
    more: list[Block] = [Text(f"… and {count - len(rows)} more rows: see --json or the report", "meta")] if count > len(rows) else []
    return [Table((*WORDS, *FIGURES), [row.words() for row in rows], len(WORDS), beside("published layout", state), caption, fold), *more]


def breaks(found: Sweep) -> list[Block]:
    made: list[Block] = []
    quiet: dict[str, dict[str, None]] = {}
    for curve in found.curves:
        who = found.label(curve)
        for change in curve.changes:
            beside = ", ".join(limit.text for limit in curve.beside(change))
            made.append(Text(f"{who}: {change.text}" + (f"; limits of the MPI there: {beside}" if beside else ""), "note", f"{change.kind}:"))
        for limit in curve.thresholds:
            if limit.of_collective and limit.change is None:
                quiet.setdefault(limit.text, {})[who] = None
    if not made and any(len(curve.points) >= LEAST_SIZES for curve in found.curves):
        made.append(Text("no knee, and no size at which more bytes take less time", "meta"))
    return [*made, *(Text(f"limit of the MPI without a change, {limit}: {', '.join(who)}", "meta") for limit, who in quiet.items())]


ORDER = ("own_rank", "pu", "core", "l2", "l3", "numa", "pack", "node", "other_node", "busiest_node")  # innermost first
LEVELS = ("messages / bytes of all ranks in one exchange, one message per pair of neighbors, before a transport combines them; own rank: copies; "
          "busiest node: traffic that leaves it")


def levels(cases: Sequence[CaseResult]) -> list[Block]:
    found = [(case, entry.variant, told) for case in in_order(cases) for entry in case.entries.values() if (told := by_level(entry))]
    if not found:
        return []
    told_of = {name for _, _, told in found for name, sums in told.items() if any(sums.values())}
    names, parameters = [name for name in ORDER if name in told_of], varying(cases)
    rows = [[*values(case, parameters), variant, *(_sums(told.get(name, {})) for name in names)] for case, variant, told in found]
    return [Table([*parameters, "variant", *(name.replace("_", " ") for name in names)], rows, len(parameters) + 1, "messages by level", LEVELS)]


def _sums(told: dict[str, int]) -> str:
    return f"{told['messages']:,} / {told['bytes']:,}" if any(told.values()) else "–"


def section(title: str, blocks: Sequence[Block], fold: str = "") -> list[Section]:
    return [Section(title, blocks, fold)] if blocks else []


LEAST_SHARE = 0.001
MUCH_WAITING = 0.1


def profile_blocks(profile: Profile, most: int = 15) -> list[Block]:
    made: list[Block] = [Text(f"{profile.profile}: {len(profile.ranks)} ranks of {' '.join(profile.program)}, {profile.samples} samples")]
    made += map(note, profile.notes)
    if (waited := waiting_share(profile.ranks)) > MUCH_WAITING:
        made.append(note(f"for {percent(waited, 0)} of their time the ranks waited for busy cores; shares exclude that time"))
    if profile.samples:
        found = tables(profile)
        made += [Section("share of the time, by part", [_shares(found["parts"], most)]),
                 Section("by library; charged: including time in kernel and libc on its behalf", [_libraries(found["libraries"], found["charged"], most)]),
                 *(Section(TABLES[name][0], [_shares(found[name], most)]) for name in ("symbols", "totals"))]
    head = ("rank", "host", "time, s", "waiting for a core", "on one", "asleep", "asleep in")
    return [*made, Section("ranks", [Table(head, list(map(_profiled_rank, profile.ranks)), 2)])]


def _shares(shares: Shares, most: int) -> Table:
    rows = [(key.name, PurePath(key.library).name if key.symbol else key.part if key.library else "", percent(share))
            for key, share in list(shares.items())[:most] if share >= LEAST_SHARE]
    return Table(("name", "in", "share"), rows, 2)


def _libraries(own: Shares, charged: Shares, most: int) -> Table:
    both = {key: (own.get(key, 0.0), charged.get(key, 0.0)) for key in {*own, *charged}}
    rows = [(key.library or key.part, key.part, *map(percent, shares)) for key, shares in sorted(both.items(), key=lambda each: -max(each[1]))[:most]
            if max(shares) >= LEAST_SHARE]
    return Table(("library", "part", "share", "charged"), rows, 2)


def _profiled_rank(rank: RankProfile) -> tuple[str, ...]:
    whole = rank.whole_s or 1.0
    asleep = sorted(rank.asleep.items(), key=lambda item: -item[1])
    where = ", ".join(f"{name} {percent(spent / whole, 0)}" for name, spent in asleep if spent >= LEAST_SHARE * whole)
    shares = waiting_share([rank]), rank.cpu_s / whole, sum(rank.asleep.values()) / whole
    return str(rank.rank), rank.host, f"{rank.wall_s:.2f}", *map(percent, shares), where
