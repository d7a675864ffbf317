"""A run folder out of what the OSU Micro-Benchmarks (3 to 7) or the Intel MPI Benchmarks have printed.

One file is one launch, one row of a table one case. The average over ranks is taken, because both tools always print it; the
row's other columns are kept beside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..base.files import read_bounded
from .folder import RunFolder
from .model import Case, End, Launch, Plan, RecordError
from .read import Record, read_record

GREATEST = 2.0**62
LARGEST = 64 * 2**20  # bytes; such files have some hundred lines


@dataclass
class Row:
    """One line: numbers (and `Pass`, `Fail`) by column, or why the benchmark gave none."""

    values: dict[str, float | str]
    missing: str | None = None


@dataclass
class Table:
    """One test with its parameters, such as its ranks."""

    test: str
    params: dict[str, int | str]
    columns: list[str]
    rows: list[Row] = field(default_factory=list)


@dataclass
class Output:
    """What one file holds. `facts` are what it says about itself."""

    tool: str
    version: str
    tables: list[Table]
    facts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Line:
    """A line with its place, for messages."""

    file: Path
    number: int
    text: str
    whole: bool = True

    def error(self, why: str) -> RecordError:
        return RecordError(f"{self.file}, line {self.number}: {why}; nothing was imported")


def read_lines(file: Path) -> list[Line]:
    """The lines of a text file; raises `RecordError` for anything else."""
    try:
        text = read_bounded(file, LARGEST).decode()
    except UnicodeDecodeError:
        raise RecordError(f"{file} is no output of OSU or IMB: it is not a text file") from None
    except OSError as error:
        raise RecordError(f"cannot read {file}: {error.strerror}") from None
    lines = text.split("\n")
    return [Line(file, number, line.rstrip("\r"), number < len(lines)) for number, line in enumerate(lines, start=1)]


def add_row(output: Output, table: Table, line: Line) -> None:
    """Add a line of figures; the last line of a file may be cut short, no other."""
    words = line.text.split()
    if len(words) == len(table.columns):
        table.rows.append(Row({name: _value(word, line) for name, word in zip(table.columns, words, strict=True)}))
    elif line.whole:
        raise line.error(f"{len(words)} columns where {len(table.columns)} are announced: '{line.text.strip()[:60]}'")
    else:
        output.notes.append(f"the last line of {line.file.name} was cut short and is left out")


def _value(word: str, line: Line) -> float | str:
    if word in ("Pass", "Fail"):
        return word
    try:
        value = float(word)
    except ValueError:
        raise line.error(f"'{word[:40]}' is no number") from None
    if not 0 <= value < GREATEST:
        raise line.error(f"'{word[:40]}' is no time, size or rate")
    return value


def starts_with_number(text: str) -> bool:
    """Is the first word of a line a number?"""
    try:
        float(text.split()[0])
    except (ValueError, IndexError):
        return False
    return True


OSU_TITLE = re.compile(r"^#\s*OSU (?P<test>.+?)(?: Test)?\s+v(?P<version>[\w.]+)\s*$")
OSU_UNITS = re.compile(r"\((us|ms|MB/s|GB/s)\)|^MB/s$|^Messages/s$")
PAIRS = re.compile(r"\[ pairs: (\d+) \] \[ window size: (\d+) \]")
OSU_FACT = re.compile(r"^#\s*(Datatype|Window creation|Synchronization|Window size|Buffer Size):?\s*(.+?)\.?\s*$", re.IGNORECASE)
INIT = re.compile(r"^nprocs: (\d+), min: ([\d.]+) ms, max: ([\d.]+) ms, avg: ([\d.]+) ms\s*$")
BETWEEN_TWO = re.compile(
    r"^MPI(_\w+)? (Latency|Bandwidth|Bi-Directional Bandwidth)|^MPI_(Put|Get|Accumulate|Compare_and_swap|Fetch_and_op)"
)


def parse_osu(lines: Sequence[Line]) -> Output | None:
    """Everything in the file, or `None` when no line is a heading of OSU."""
    output, table = None, None
    for line in lines:
        if title := OSU_TITLE.match(line.text):
            output = output or Output("OSU", title["version"], [])
            table = Table(title["test"], {"ranks": 2} if BETWEEN_TWO.match(title["test"]) else {}, [])
            output.tables.append(table)
        elif output and table:
            _osu_line(output, table, line)
    return output


def _osu_line(output: Output, table: Table, line: Line) -> None:
    if found := INIT.match(line.text):
        table.columns = ["Avg(ms)", "Min(ms)", "Max(ms)"]
        ranks, low, high, mean = found.groups()
        table.params["ranks"] = int(ranks)
        table.rows.append(Row({"Avg(ms)": float(mean), "Min(ms)": float(low), "Max(ms)": float(high)}))
    elif line.text.startswith("#"):
        _comment(table, line.text)
    elif table.columns and starts_with_number(line.text):
        add_row(output, table, line)


def _comment(table: Table, text: str) -> None:
    if found := PAIRS.search(text):
        table.params |= {"ranks": 2 * int(found[1]), "window": int(found[2])}
        return
    columns = [word for word in re.split(r"\s{2,}|\t+", text.lstrip("#").strip()) if word]
    if columns and any(OSU_UNITS.search(name) for name in columns) and len(set(columns)) == len(columns):
        table.columns = columns
    elif found := OSU_FACT.match(text):
        table.params[found[1].lower().replace(" ", "_")] = found[2]


IMB_TITLE = re.compile(r"^#\s+Intel\(R\) MPI Benchmarks (?P<version>\S+?),? (?P<part>.*?)\s*$")
TEST = re.compile(r"^#\s*Benchmarking\s+(?P<test>\S.*?)\s*$")
IMB_RANKS = re.compile(r"^#\s*#processes\s*=\s*(\d+)")
GROUPS = re.compile(r"^#\s*\(\s*(\d+) groups of (\d+) processes each")
MODE = re.compile(r"^#\s*MODE:\s*(\S+)")
IMB_FACT = re.compile(r"^#\s+(Date|Machine|System|Release|Version|MPI Version|MPI_Datatype)\s*:\s*(\S.*?)\s*$")
COLUMNS = re.compile(r"^\s*#(bytes|repetitions)\b.*\S")
NO_FIGURES = re.compile(r"^\s*(?P<size>\d+)\s+(?P<why>out-of-mem|int-overflow|.*time-?out)")


def parse_imb(lines: Sequence[Line]) -> Output | None:
    """Everything in the file, or `None` when no line is a heading of IMB."""
    output, table = None, None
    for line in lines:
        if title := IMB_TITLE.match(line.text):
            output = output or Output("IMB", title["version"], [], {"part": title["part"]})
        elif found := TEST.match(line.text):
            output = output or Output("IMB", "unknown", [])
            table = Table(found["test"], {}, [])
            output.tables.append(table)
        elif table is None:
            if output and (fact := IMB_FACT.match(line.text)):
                output.facts.setdefault(fact[1].lower(), fact[2])
        elif output:
            table = _imb_line(output, table, line)
    return output


def _imb_line(output: Output, table: Table, line: Line) -> Table:
    text = line.text
    if found := IMB_RANKS.match(text):
        table.params["ranks"] = int(found[1])
    elif found := GROUPS.match(text):
        table.params |= {"ranks": int(found[1]) * int(found[2]), "groups": int(found[1])}
    elif found := MODE.match(text):
        # One-sided tests print a table for each mode under one heading.
        table = _another(output, table) if table.rows else table
        table.params["mode"] = found[1]
    elif COLUMNS.match(text):
        table = _another(output, table) if table.rows else table
        table.columns = text.split()
    elif table.columns and (found := NO_FIGURES.match(text)):
        table.rows.append(Row({"#bytes": float(found["size"])}, missing=text.strip()))
    elif table.columns and starts_with_number(text):
        add_row(output, table, line)
    return table


def _another(output: Output, table: Table) -> Table:
    another = Table(table.test, {name: value for name, value in table.params.items() if name != "mode"}, [])
    output.tables.append(another)
    return another


SIZES = ("Size", "#bytes", "Message Size", "Size (B)")
COUNTS = ("#repetitions", "Iterations")
# In this order: overall time of nonblocking tests, averages, plain times.
TIMES = (r"^Overall\(", r"^Avg", r"^t_avg\[", r"^t_ovrl\[", r"^Latency", r"^t\[", r"\((us|ms)\)$", r"\[usec\]$")
RATES = (r"\(MB/s\)$", r"^MB/s$", r"^Mbytes/sec$")
UNITS = (("ms", 1e-3), ("us", 1e-6))
BYTES_PER_MB = 1e6


def case_of(launch: int, output: Output, table: Table, row: Row) -> Case:
    """The row as a case, its time in seconds, or why it has none."""
    size = next((row.values[name] for name in SIZES if name in row.values), None)
    params: dict[str, Any] = {"test": table.test, **({} if size is None else {"size": int(size)}), **table.params}
    who = {"launch": launch, "name": table.test, "contender": output.tool.lower(), "params": params, "role": "peer"}
    if row.missing:
        return Case(**who, skipped=row.missing)
    column, seconds = _seconds(table, row, size)
    if seconds is None:
        return Case(**who, skipped=f"no column of {', '.join(table.columns)} tells a time")
    count = next((row.values[name] for name in COUNTS if name in row.values), None)
    told = f"{column}; " + ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.values.items()
    )
    return Case(**who, verified=_verified(row), samples=[seconds], iterations=None if count is None else int(count), explain=told)


def _seconds(table: Table, row: Row, size: float | str | None) -> tuple[str, float | None]:
    for pattern in TIMES:
        for name in table.columns:
            value = row.values.get(name)
            if re.search(pattern, name) and isinstance(value, float):
                return name, value * next((factor for unit, factor in UNITS if unit in name), 1.0)
    for pattern in RATES:
        for name in table.columns:
            value = row.values.get(name)
            if re.search(pattern, name) and isinstance(value, float) and value > 0 and isinstance(size, float) and size > 0:
                return f"size / {name}", size / (value * BYTES_PER_MB)
    return "", None


def _verified(row: Row) -> bool | None:
    """What the benchmark's own check said, `None` when it made none."""
    if "Validation" in row.values:
        return row.values["Validation"] == "Pass"
    if "defects" in row.values:
        return row.values["defects"] == 0
    return None


def import_files(files: Sequence[Path], out: Path | None, labels: dict[str, str], ranks: int | None, argv: list[str]) -> Record:
    """Make a run of the files; raises `RecordError` and makes nothing when one of them cannot be used."""
    outputs = [_parse(file, ranks) for file in files]
    tools = sorted({output.tool for output in outputs})
    if len(tools) > 1:
        raise RecordError(f"the files are output of {' and '.join(tools)}: import them one tool at a time")
    lines = [_lines(number, output) for number, output in enumerate(outputs)]
    folder = RunFolder.create(tools[0].lower(), argv, _environment(files, outputs), out, labels)
    for each in lines:
        for line in each:
            folder.append(line)
    return read_record(folder.path)


def _parse(file: Path, ranks: int | None) -> Output:
    lines = read_lines(file)
    output = parse_osu(lines) or parse_imb(lines)
    if output is None:
        raise RecordError(f"{file} is no output of OSU or IMB: no line begins with '# OSU …' or '# Benchmarking …'")
    if not any(table.rows for table in output.tables):
        raise RecordError(f"{file} is output of {output.tool}, but holds no figures")
    for table in output.tables:
        _settle_ranks(file, table, ranks)
    return output


def _settle_ranks(file: Path, table: Table, ranks: int | None) -> None:
    told = table.params.get("ranks", ranks)
    if told is None:
        raise RecordError(f"{file}: '{table.test}' does not say on how many ranks it ran: give --ranks")
    table.params["ranks"] = told


def _lines(number: int, output: Output) -> list[Launch | Plan | Case | End]:
    cases = [case_of(number, output, table, row) for table in output.tables for row in table.rows]
    ranks = max(case.params["ranks"] for case in cases)
    mpi = {"standard": output.facts["mpi version"]} if "mpi version" in output.facts else {}
    launch = Launch(number, ranks, mpi=mpi)
    return [launch, Plan(number, len(cases)), *cases, End(number, "ok")]


def _environment(files: Sequence[Path], outputs: Sequence[Output]) -> dict[str, Any]:
    """What the files tell of themselves; of the machine that they were made on nothing else is known."""
    written = [datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds") for file in files]
    told = {name: value for output in outputs for name, value in output.facts.items()}
    notes = [note for output in outputs for note in output.notes]
    return {"imported": {"tool": outputs[0].tool, "tool_version": ", ".join(dict.fromkeys(o.version for o in outputs)),
                         "files": [str(file) for file in files], "files_written": written, "notes": notes}, **told}  # fmt: skip
