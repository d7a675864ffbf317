"""Page of `parhelion report`: drawing and verdicts, then for each run results, plots, verification, method, machine."""

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..place.published import Row, published_rows, read_lines
from ..analyze.results import OWN, LIBRARY, CaseResult, Entry, Headline, Wording, by_state, case_label, constant, entries, headline, in_order, ours, over_floor, reasons, remarks, results, most_samples, varying, wording
from ..analyze.document import applications, published_form
from ..analyze.sweep import sweep
from ..record.read import Record, failed
from ..record.model import Facts, Launch, RecordError, flatten
from ..analyze.words import duration, microseconds, ranges, significant, times, times_ends
from . import Block, Cell, Drawing, Items, Page, Section, Table, Text, Word, facts, plots
from .files import write
from .results import beside, breaks, energy, every_result, form_table, matrix, phases, published_layout, seams, section, values


def write_report(records: Sequence[Record], html: Path | None, markdown: Path | None, with_published: bool = False,
                 figure: Path | None = None) -> list[Path]:
    """Write the report to the files given; raises `RecordError` if a file cannot be written or there is nothing to draw in `figure`."""
    made = page(records, with_published)
    if figure and not any(isinstance(block, Drawing) for block in made.blocks):
        raise RecordError("nothing to draw: no case has a verified timing of the library and of hand-written MPI; measure without --variants")
    return write(made, html, markdown, RecordError, figure)


def page(records: Sequence[Record], with_published: bool = False) -> Page:
    named = titles(records)
    cases = [in_order(results(record.cases)) for record in records]
    states = [by_state(record) for record in records]  # once: their summaries take time
    usual_states = [most_samples(each) for each in states]
    first: list[Block] = []
    for number, (title, (state, usual)) in enumerate(zip(named, usual_states, strict=True)):
        drawn = plots.opening(in_order(usual), f"o{number}", state)
        first += [Text(title, "bold"), *drawn] if drawn and len(records) > 1 else drawn
    said: list[tuple[Text, Sequence[str]]] = [(Text(sentence, "bold" if len(records) > 1 else "", f"{title}." if len(records) > 1 else ""), [])
            for title, record, each, usual_one in zip(named, records, cases, usual_states, strict=True) for sentence in verdicts(record, each, *usual_one)]
    runs = [Section(title, list(_run(record, each, some, f"r{number}", with_published)))
            for number, (title, record, each, some) in enumerate(zip(named, records, cases, states, strict=True))]
    return Page(f"Parhelion report{f': {named[0]}' if len(named) == 1 else ''}", "measured halo exchange", [*first, Items(said), *runs])


def titles(records: Sequence[Record]) -> list[str]:
    plain = [wording(record.run.benchmark).title for record in records]
    images = [f"{title}: {record.labels.get('image') or record.id}" for title, record in zip(plain, records, strict=True)]
    whole = [f"{title}: {record.id}" for title, record in zip(plain, records, strict=True)]
    return [next((name for name, every in ((title, plain), (image, images)) if every.count(name) == 1), run)
            for title, image, run in zip(plain, images, whole, strict=True)]


def _run(record: Record, cases: Sequence[CaseResult], states: Sequence[tuple[str, Sequence[CaseResult]]], prefix: str, with_published: bool) -> Sequence[Block]:
    words, found = wording(record.run.benchmark), sweep(record, cases)
    sweeps = [(state, sweep(record, some)) for state, some in states]
    labels = "".join(f" · {name}: {value}" for name, value in record.labels.items())
    forms = [(state, published_form(record.run.benchmark, in_order(some)), applications(some)) for state, some in states]
    told, machine = launch_facts(record.launches), flatten(record.run.environment)
    shared = " · ".join(f"{name} {value}" for name, value in constant(cases).items())
    here = " · ".join(value.partition("\n")[0] for name, value in [*machine, *told] if name in ("cpu model", "library version"))
    return [
        Text(f"{record.run.created} · run {record.id}{labels}", "meta"),
        *(Text(f"{end.status}. {end.message or ''}", "bad", f"Launch {end.launch + 1}:") for end in failed(record)),
        *(Text(each, "note", "Note:") for each in remarks(record, cases)),
        *([] if cases else [Text("No case was finished.", "bad")]),
        *section("MPIs and networks", [block for state, each in sweeps if each.matrix for block in matrix(record.run.benchmark, each.matrix, state)]),
        *section("Published layout", [block for state, each in sweeps
                                      for block in published_layout(each.published, len(each.published), beside(f"{len(each.published)} rows", state), state)]),
        *(section("Where the sweep breaks", breaks(found)) if found.curves else []),
        *(section("Results", [Text(shared, "meta"), *(block for state, some in states for block in [*every_result(record.run.benchmark, some, state), *seams(some), *phases(some, state)]), *energy(cases, words.of)]) if cases else []),
        *section("Time of exchanges", [form_table(apps, fold=beside("Share of a step", state)) for state, _, apps in forms if apps]),
        *(form_table(form, fold=beside("In the published form", state)) for state, form, _ in forms if form),
        *plots.curves(cases, prefix),
        *section("Samples", plots.samples(cases, prefix, words.of)),
        *section("Set-up", setup(cases)),
        *section("Choice of auto", choices(cases), "closed"),
        *section("Verification", verification(record, cases)),
        *section("Spread", [block for state, some in states for block in spread(in_order(some), words, state)], "closed"),
        *(section("Published figures", published(record.run.benchmark)) if with_published else []),
        Section("Method", [method(record, cases)]),
        *section("Binding of ranks", places(record.launches), "closed"),
        Section("Environment", [Text(here, "meta"), facts(told, fold="Ranks"), facts(machine, fold="Machine")]),
    ]


def verdicts(record: Record, cases: Sequence[CaseResult], state: str, usual: Sequence[CaseResult]) -> list[str]:
    head = headline(usual)
    floor = over_floor(head.speeds)
    told = f"{head.variant} takes {times(floor.value)} {times_ends(floor.interval)} the time of copying alone, which is the floor; geometric mean."
    said = [told] if floor.value else []
    said += [against_hand(head, wording(record.run.benchmark), state)] if head.mean else []
    pairs = [(case.best(LIBRARY), ours(case)) for case in plots.compared(usual)]
    if ratios := [other.median / own.median for other, own in pairs if other and own and other.median and own.median]:
        low, high = min(ratios), max(ratios)
        said.append(f"Against the fastest other library: {times(low)}" + (f" to {times(high)}" if len(ratios) > 1 else "") + f" as fast, over {_cases(len(ratios))}.")
    wrong, count = sum(entry.failed for entry in entries(cases)), len(record.launches)
    ranks = ", ".join(map(str, sorted({launch.ranks for launch in record.launches}))) or "unknown"
    said.append((f"{wrong} failed (wrong values, or none); " if wrong else "")
                + f"{sum(entry.verified for entry in entries(cases))} timings, every value verified, on {ranks} ranks; {count} "
                f"launch{'es' if count != 1 else ''}, {sum(len(line.samples) for line in record.cases)} samples.")
    return said


def against_hand(head: Headline, words: Wording, state: str = "") -> str:
    low, high = head.interval
    told = " ".join(filter(None, (times(head.mean), times_ends(head.interval)))) + (
        f" as fast as {words.base}, geometric mean over {_cases(len(head.speeds))}{state and f', {state}'}")
    if low is None or high is None:
        return f"{head.variant} is {told}; launches or samples are too few for an interval."
    if low > 1:
        return f"{head.variant} is faster: {told}."
    return f"{head.variant} is slower: {told}." if high < 1 else f"No difference is shown between {head.variant} and {words.base}: {told}."


def _cases(count: int) -> str:
    return f"{count} case{'s' if count != 1 else ''}"


def setup_exchanges(entry: Entry) -> float:
    cost = entry.setup_s
    return (cost.get("pattern", 0.0) + cost.get("plan", 0.0)) / entry.median if entry.median else math.nan


def setup(cases: Sequence[CaseResult]) -> list[Block]:
    found = [(case, entry) for case in cases for entry in case.entries.values() if entry.role == OWN and entry.setup_s]
    timed = [(setup_exchanges(entry), entry.variant, case_label(case, cases)) for case, entry in found if entry.median]
    if not timed:
        return []
    most, variant, name = max(timed)
    parts = ("pattern", "plan", "first")
    rows: list[list[Word]] = [[*values(case, varying(cases)), entry.variant, *(duration(entry.setup_s.get(part)) for part in parts), duration(entry.median),
                               f"{setup_exchanges(entry):.0f}" if entry.median else "–"] for case, entry in found]
    head = [*varying(cases), "variant", "pattern", "plan", "first exchange", "steady", "set-up / steady"]
    return [Text("Done once per pattern and plan; the last column is set-up as a number of exchanges.", "meta"),
            Table(head, rows, len(varying(cases)) + 1, fold=f"pattern and plan cost at most {most:.0f} exchanges ({variant}, {name})")]


def choices(cases: Sequence[CaseResult]) -> list[Block]:
    told = [(case_label(case, cases), line.explain) for case in cases for entry in case.entries.values() for line in entry.lines[:1]
            if entry.variant == "auto" and line.explain]
    return [facts([(case, each if isinstance(each, str) else msgspec.json.encode(each).decode()) for case, each in told])] if told else []


def verification(record: Record, cases: Sequence[CaseResult]) -> list[Block]:
    if not cases:
        return []
    every, told = entries(cases), list[Text]()
    told += [Text(f"{entry.variant} on {entry.name}: {entry.error}", "bad", "FAILED:") for entry in every if entry.failed]
    unverified: dict[str, list[str]] = {}
    for entry in every:
        if entry.ran and not entry.verified and not entry.failed:
            unverified.setdefault(entry.variant, []).append(entry.name)
    told += [Text(f"{variant} in {_cases(len(names))} ({', '.join(dict.fromkeys(names))})", "bad", "not verified:") for variant, names in unverified.items()]
    told += [Text(f"{', '.join(names)}: {kind}: {why}") for (kind, why), names in reasons(cases).items()]
    by = "the state was compared with a reference" if record.run.benchmark == "apps" else "every ghost was compared with its formula"
    counted = f"{sum(entry.verified for entry in every)} timings are verified: {by} in the same run."
    if "imported" in record.run.environment:
        counted = "Values were verified by the tool that printed the figures, or not at all."
    return [Items([(each, []) for each in (Text(counted), *told)])]


def spread(cases: Sequence[CaseResult], words: Wording, state: str) -> list[Block]:
    parameters = varying(cases)
    timed = [(case, entry, entry.summary) for case in cases for entry in case.entries.values() if entry.summary]
    rows: list[list[Word]] = [[*values(case, parameters), entry.variant, str(found.count),
                               *map(microseconds, (found.p5, found.median, found.p95, found.p99)), found.mean_std_us,
                               *("–" if each is None else str(each) for each in (entry.lines[0].bytes, entry.lines[0].messages))]
                              for case, entry, found in timed]
    caption = beside(f"µs per {words.of}; mean(std): the digits in brackets are the standard deviation in units of the last digits", state)
    head = [*parameters, "variant", "samples", "p5", "median", "p95", "p99", "mean(std)", "bytes", "messages"]
    return [Table(head, rows, len(parameters) + 1, caption=caption)] if rows else []


def method(record: Record, cases: Sequence[CaseResult]) -> Items:
    lines = [line for line in record.cases if line.samples]
    each = sorted({len(line.samples) for line in lines})
    samples = f"{each[0]}–{each[-1]}" if len(each) > 1 else str(each[0]) if each else "no"
    exchanges = sum(len(line.samples) * (line.iterations or 1) for line in lines)
    medians = sorted({str(entry.summary.method) for entry in entries(cases) if entry.summary and entry.summary.method})
    ratios = sorted({str(case.ratio(name).method) for case in cases for name in case.entries if case.ratio(name).method})
    count = len(record.launches)

    def come(methods: Sequence[str]) -> str:
        return f" Their 95 % intervals come from {', or from '.join(methods)}." if methods else ""

    how = [
        f"The ranks were started {count} time{'s' if count != 1 else ''}, because launches differ; each launch took {samples} "
        f"samples of every variant on every case, {exchanges} exchanges in all.",
        "A sample is a batch of exchanges divided by their number; its time is the maximum over the ranks. Variants were interleaved in a "
        "new random order for each repetition, so that a drift of the machine affected all of them equally.",
    ]
    if imported := record.run.environment.get("imported"):
        how = [f"{imported['tool']} printed the times, each a mean by its own definition; a sample is the figure of one file."]
    told = [
        *how,
        f"Figures are medians.{come(medians)} "
        + ("With one launch there are no intervals: the variation between launches is unknown." if count == 1 else "With few launches, the variation between launches is poorly known."),
        f"Ratios compare times of the same run.{come(ratios)} "
        + ("" if imported else "The probe is the one-way time of a flag between ranks 0 and 1."),
        *([f"Command: {' '.join(record.run.argv)}"] if record.run.argv else []),
    ]
    return Items([(Text(sentence), []) for sentence in told])


MOST_HOSTS = 64


def places(launches: Sequence[Launch]) -> list[Block]:
    found: dict[str, tuple[Launch, list[int]]] = {}
    for launch in launches:
        if launch.hosts and len(launch.hosts) == len(launch.binding):
            found.setdefault(repr((launch.bound_by, launch.hosts, launch.binding)), (launch, []))[1].append(launch.launch + 1)
    made: list[Block] = []
    for launch, numbers in found.values():
        hosts = list(dict.fromkeys(map(str, launch.hosts)))
        which = f"Launch{'es' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}: bound by {launch.bound_by or 'nobody'}"
        left = f"; {len(hosts) - MOST_HOSTS} more hosts are left out" if len(hosts) > MOST_HOSTS else ""
        made.append(facts([(host, _ranks_of(launch, host)) for host in hosts[:MOST_HOSTS]], title=which + left))
    return made


def _ranks_of(launch: Launch, host: str) -> str:
    threads = {rank: [each for each in binding if isinstance(each, int)] if isinstance(binding, list) else []
               for rank, (where, binding) in enumerate(zip(launch.hosts, launch.binding, strict=True)) if str(where) == host}
    users = [each for every in threads.values() for each in every]
    crowded = {rank for rank, every in threads.items() if every and all(users.count(each) > 1 for each in every)}
    return "; ".join(f"rank {rank}: {ranges(every) or 'unknown'}{' (shared)' if rank in crowded else ''}" for rank, every in threads.items())


def launch_facts(launches: Sequence[Launch]) -> Facts:
    told: dict[tuple[str, str], list[int]] = {}
    for launch in launches:
        every = {"build": launch.build, "ranks": launch.ranks, **launch.mpi, "hosts": sorted(set(map(str, launch.hosts))),
                 "binding": launch.binding, "bound by": launch.bound_by, "libraries": launch.libraries,
                 "control variables": launch.cvars, "energy": launch.energy}
        for fact in flatten(every):
            told.setdefault(fact, []).append(launch.launch)
    named = [(name if len(numbers) == len(launches) else f"{name} (launch {', '.join(str(number + 1) for number in numbers)})", value)
             for (name, value), numbers in told.items()]
    init = ", ".join(f"{launch.mpi_init_s * 1e3:.1f} ms" for launch in launches if launch.mpi_init_s is not None)
    return [*named, *([("MPI_Init, per launch", init)] if init else [])]


HAND_WRITTEN = "mpi_comm"


def published(benchmark: str) -> list[Block]:
    """Published tables of a benchmark, if any; other machines measured them, so compare ratios only."""
    tables = {"halo": (_halo, _placement), "gather": (_gather,), "alltoall": (_alltoall,), "ghosts": (_ghosts,)}
    return [table() for table in tables.get(benchmark, ())]


def _halo() -> Table:
    rows = [row for row in published_rows() if (row.placement, row.ranks_per_node, row.numbering) == ("hwcart", 64, "XYZ")]
    return _exchanges("GHEX benchmark on Betzy, 27 nodes × 64 ranks, hwcart, numbering XYZ", rows, ("runtime", "toolchain"))


def _placement() -> Table:
    title = "The same with ranks in blocked order (mpicart) and placed by hwcart, 64 and 128 ranks per node"
    rows = [row for row in published_rows() if (row.halo, row.fields) in ((1, 1), (5, 8))]
    return _exchanges(title, rows, ("placement", "ranks_per_node", "runtime", "toolchain"))


def _exchanges(title: str, rows: Sequence[Row], names: tuple[str, ...]) -> Table:
    """Rows: halo width × fields; columns: values of `names`; small: speed-up over hand-written MPI of the same toolchain."""
    told = {((str(row.halo), str(row.fields)), tuple(str(getattr(row, name)) for name in names)): row.seconds for row in rows}
    runtime = names.index("runtime")
    cells: dict[tuple[tuple[str, ...], str], Word] = {}
    for (place, column), seconds in told.items():
        base = told.get((place, (*column[:runtime], HAND_WRITTEN, *column[runtime + 1 :])))
        cells[place, " ".join(column)] = Cell(microseconds(seconds), times(base / seconds) if base else "")
    unit = "µs per exchange; small: how many times as fast as hand-written MPI of the same toolchain"
    return _published(title, unit, ("halo", "fields"), cells)


def _gather() -> Table:
    cells: dict[tuple[tuple[str, ...], str], Word] = {
        ((line["mesh"],), f"{line['kind']} {line['toolchain']}"): microseconds(float(line["seconds_per_gather"]) if line["seconds_per_gather"].strip() else None)
        for line in read_lines("index_map_gather")}
    return _published("Index-map gather of coarray-halo-exchange, 12 images", "µs per gather", ("mesh",), cells)


def _alltoall() -> Table:
    cells: dict[tuple[tuple[str, ...], str], Word] = {
        ((line["image"], line["network"], line["reservation"]), line["phase"].replace("_", " ")): line["value_with_uncertainty"]
        for line in read_lines("alltoall_images")}
    return _published("MPI_Alltoall under several software images", "as published", ("image", "network", "reservation"), cells)


def _ghosts() -> Table:
    cells: dict[tuple[tuple[str, ...], str], Word] = {}
    for line in read_lines("arraytrans_bandwidth"):
        pull = f" ({line['time_per_pull']})" if line["time_per_pull"] else ""
        cells[(line["machine"], line["np"]), f"vdim {line['vdim']}"] = f"{significant(float(line['bytes_per_second_per_rank']) / 1e6)}{pull}"
    return _published("ArrayTrans: six faces of 32³ rows pulled", "MB/s per rank, in brackets the time per pull", ("machine", "ranks"), cells)


def _published(title: str, unit: str, names: tuple[str, ...], cells: dict[tuple[tuple[str, ...], str], Word]) -> Table:
    columns, rows = list(dict.fromkeys(column for _, column in cells)), list(dict.fromkeys(row for row, _ in cells))
    made = [[*row, *(cells.get((row, column), "–") for column in columns)] for row in rows]
    return Table((*names, *columns), made, len(names), caption=f"{unit}. Measured on another machine: compare ratios only.", fold=title)
