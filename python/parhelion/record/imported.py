"""A run folder out of what the OSU Micro-Benchmarks (3 to 7) or the Intel MPI Benchmarks have printed.

One file is one launch, one row of a table one case. The average over ranks is taken, because both tools always print it; the
row's other columns are kept beside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ..base.files import read_bounded
from .folder import RunFolder
from .model import Case, End, Launch, Plan, RecordError
from .read import Record, read_record

GREATEST = 2.0**62
LARGEST = 64 * 2**20  # bytes; such files have some hundred lines


class Row(NamedTuple):
    """One line: numbers (and `Pass`, `Fail`) by column, or why the benchmark gave none."""

    values: dict[str, float | str]
    missing: str | None = None


@dataclass
class Table:
    """One test with its parameters, such as its ranks."""

    test: str
    params: dict[str, int | str] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


class Line(NamedTuple):
    """A line with its place, for messages."""

    file: Path
    number: int
    text: str
    whole: bool = True

    def error(self, why: str) -> RecordError:
        return RecordError(f"{self.file}, line {self.number}: {why}; nothing was imported")


@dataclass
class Output:
    """What one file holds. `facts` are what it says about itself."""

    tool: str
    version: str
    tables: list[Table] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def begin(self, test: str, params: dict[str, int | str] | None = None) -> Table:
        self.tables.append(Table(test, params or {}))
        return self.tables[-1]

    def add(self, table: Table, line: Line) -> None:
        """Add a line when it holds figures; the last line of a file may be cut short, no other."""
        words = line.text.split()
        if not (table.columns and words and _number(words[0]) is not None):
            return
        if len(words) == len(table.columns):
            table.rows.append(Row({name: _value(word, line) for name, word in zip(table.columns, words, strict=True)}))
        elif line.whole:
            raise line.error(f"{len(words)} columns where {len(table.columns)} are announced: '{line.text.strip()[:60]}'")
        else:
            self.notes.append(f"the last line of {line.file.name} was cut short and is left out")


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _value(word: str, line: Line) -> float | str:
    if word in ("Pass", "Fail"):
        return word
    value = _number(word)
    if value is None:
        raise line.error(f"'{word[:40]}' is no number")
    if not 0 <= value < GREATEST:
        raise line.error(f"'{word[:40]}' is no time, size or rate")
    return value


def read_lines(file: Path) -> list[Line]:
    """The lines of a text file; raises `RecordError` for anything else."""
    try:
        lines = read_bounded(file, LARGEST).decode().split("\n")
    except UnicodeDecodeError:
        raise RecordError(f"{file} is no output of OSU or IMB: it is not a text file") from None
    except OSError as error:
        raise RecordError(f"cannot read {file}: {error.strerror}") from None
    return [Line(file, number, line.rstrip("\r"), number < len(lines)) for number, line in enumerate(lines, start=1)]


OSU_TITLE = re.compile(r"^#\s*OSU (?P<test>.+?)(?: Test)?\s+v(?P<version>[\w.]+)\s*$")
OSU_UNIT = re.compile(r"\((us|ms|MB/s|GB/s)\)|^MB/s$|^Messages/s$")
OSU_PAIRS = re.compile(r"\[ pairs: (\d+) \] \[ window size: (\d+) \]")
OSU_FACT = re.compile(r"^#\s*(Datatype|Window creation|Synchronization|Window size|Buffer Size):?\s*(.+?)\.?\s*$", re.IGNORECASE)
OSU_INIT = re.compile(r"^nprocs: (\d+), min: ([\d.]+) ms, max: ([\d.]+) ms, avg: ([\d.]+) ms\s*$")
BETWEEN_TWO = re.compile(r"^MPI(_\w+)? (Latency|Bandwidth|Bi-Directional Bandwidth)|^MPI_(Put|Get|Accumulate|Compare_and_swap|Fetch_and_op)")


def parse_osu(lines: Sequence[Line]) -> Output | None:
    """Everything in the file, or `None` when no line is a heading of OSU.

    A heading names the test, a comment line with two or more blanks between its words the columns:

        # OSU MPI All-to-All Personalized Exchange Latency Test v7.4
        # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
        1                       1.52              1.40              1.63        1000
    """
    output = table = None
    for line in lines:
        if title := OSU_TITLE.match(line.text):
            output = output or Output("OSU", title["version"])
            table = output.begin(title["test"], {"ranks": 2} if BETWEEN_TWO.match(title["test"]) else {})
        elif not (output and table):
            continue
        elif found := OSU_INIT.match(line.text):
            table.columns = ["Avg(ms)", "Min(ms)", "Max(ms)"]
            ranks, low, high, mean = found.groups()
            table.params["ranks"] = int(ranks)
            table.rows.append(Row({"Avg(ms)": float(mean), "Min(ms)": float(low), "Max(ms)": float(high)}))
        elif line.text.startswith("#"):
            _osu_comment(table, line.text)
        else:
            output.add(table, line)
    return output


def _osu_comment(table: Table, text: str) -> None:
    if found := OSU_PAIRS.search(text):
        table.params |= {"ranks": 2 * int(found[1]), "window": int(found[2])}
        return
    columns = [word for word in re.split(r"\s{2,}|\t+", text.lstrip("#").strip()) if word]
    if any(OSU_UNIT.search(name) for name in columns) and len(set(columns)) == len(columns):
        table.columns = columns
    elif found := OSU_FACT.match(text):
        table.params[found[1].lower().replace(" ", "_")] = found[2]


IMB_TITLE = re.compile(r"^#\s+Intel\(R\) MPI Benchmarks (?P<version>\S+?),? (?P<part>.*?)\s*$")
IMB_TEST = re.compile(r"^#\s*Benchmarking\s+(?P<test>\S.*?)\s*$")
IMB_RANKS = re.compile(r"^#\s*#processes\s*=\s*(\d+)")
IMB_GROUPS = re.compile(r"^#\s*\(\s*(\d+) groups of (\d+) processes each")
IMB_MODE = re.compile(r"^#\s*MODE:\s*(\S+)")
IMB_FACT = re.compile(r"^#\s+(Date|Machine|System|Release|Version|MPI Version|MPI_Datatype)\s*:\s*(\S.*?)\s*$")
IMB_COLUMNS = re.compile(r"^\s*#(bytes|repetitions)\b.*\S")
NO_FIGURES = re.compile(r"^\s*(?P<size>\d+)\s+(?P<why>out-of-mem|int-overflow|.*time-?out)")


def parse_imb(lines: Sequence[Line]) -> Output | None:
    """Everything in the file, or `None` when no line is a heading of IMB (-MPI1, -NBC, -RMA, -P2P and others with the same tables).

    # Benchmarking Alltoall
    # #processes = 2
           #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
                0         1000         0.03         0.03         0.03
    """
    output = table = None
    for line in lines:
        if title := IMB_TITLE.match(line.text):
            output = output or Output("IMB", title["version"], facts={"part": title["part"]})
        elif found := IMB_TEST.match(line.text):
            output = output or Output("IMB", "unknown")
            table = output.begin(found["test"])
        elif output and table:
            table = _imb_line(output, table, line)
        elif output and (fact := IMB_FACT.match(line.text)):
            output.facts.setdefault(fact[1].lower(), fact[2])
    return output


def _imb_line(output: Output, table: Table, line: Line) -> Table:
    text = line.text
    mode, columns = IMB_MODE.match(text), IMB_COLUMNS.match(text)
    if (mode or columns) and table.rows:  # one-sided tests print a table for each mode under one heading
        table = output.begin(table.test, {name: value for name, value in table.params.items() if name != "mode"})
    if mode:
        table.params["mode"] = mode[1]
    elif columns:
        table.columns = text.split()
    elif found := IMB_RANKS.match(text):
        table.params["ranks"] = int(found[1])
    elif found := IMB_GROUPS.match(text):
        table.params |= {"ranks": int(found[1]) * int(found[2]), "groups": int(found[1])}
    elif table.columns and (found := NO_FIGURES.match(text)):
        table.rows.append(Row({"#bytes": float(found["size"])}, missing=text.strip()))
    else:
        output.add(table, line)
    return table


SIZES = ("Size", "#bytes", "Message Size", "Size (B)")
COUNTS = ("#repetitions", "Iterations")
# In this order: overall time of nonblocking tests, averages, plain times.
TIMES = (r"^Overall\(", r"^Avg", r"^t_avg\[", r"^t_ovrl\[", r"^Latency", r"^t\[", r"\((us|ms)\)$", r"\[usec\]$")
RATES = (r"\(MB/s\)$", r"^MB/s$", r"^Mbytes/sec$")
BYTES_PER_MB = 1e6


def case_of(launch: int, output: Output, table: Table, row: Row) -> Case:
    """The row as a case, its time in seconds, or why it has none."""
    size, count = (next((row.values[name] for name in names if name in row.values), None) for names in (SIZES, COUNTS))
    params: dict[str, Any] = {"test": table.test, **({} if size is None else {"size": int(size)}), **table.params}
    who: dict[str, Any] = {"launch": launch, "name": table.test, "contender": output.tool.lower(), "params": params, "role": "peer"}
    if row.missing:
        return Case(**who, skipped=row.missing)
    column, seconds = _seconds(table, row, size)
    if seconds is None:
        return Case(**who, skipped=f"no column of {', '.join(table.columns)} tells a time")
    told = ", ".join(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.values.items())
    return Case(**who, verified=_verified(row), samples=[seconds], iterations=None if count is None else int(count), explain=f"{column}; {told}")


def _seconds(table: Table, row: Row, size: float | str | None) -> tuple[str, float | None]:
    for patterns in (TIMES, RATES):
        for name in (name for pattern in patterns for name in table.columns if re.search(pattern, name)):
            value = row.values.get(name)
            if isinstance(value, float) and patterns is TIMES:
                return name, value * (1e-3 if "ms" in name else 1e-6 if "us" in name else 1.0)
            if isinstance(value, float) and value > 0 and isinstance(size, float) and size > 0:
                return f"size / {name}", size / (value * BYTES_PER_MB)
    return "", None


def _verified(row: Row) -> bool | None:
    """What the benchmark's own check said, `None` when it made none."""
    if "Validation" in row.values:
        return row.values["Validation"] == "Pass"
    return row.values["defects"] == 0 if "defects" in row.values else None


def import_files(files: Sequence[Path], out: Path | None, labels: dict[str, str], ranks: int | None, argv: list[str]) -> Record:
    """Make a run of the files; raises `RecordError` and makes nothing when one of them cannot be used."""
    outputs = [_parse(file, ranks) for file in files]
    tools = sorted({output.tool for output in outputs})
    if len(tools) > 1:
        raise RecordError(f"the files are output of {' and '.join(tools)}: import them one tool at a time")
    lines = [line for number, output in enumerate(outputs) for line in _lines(number, output)]
    folder = RunFolder.create(tools[0].lower(), argv, _environment(files, outputs), out, labels)
    for line in lines:
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
        told = table.params.get("ranks", ranks)
        if told is None:
            raise RecordError(f"{file}: '{table.test}' does not say on how many ranks it ran: give --ranks")
        table.params["ranks"] = told
    return output


def _lines(number: int, output: Output) -> list[Launch | Plan | Case | End]:
    cases = [case_of(number, output, table, row) for table in output.tables for row in table.rows]
    ranks = max(case.params["ranks"] for case in cases)
    mpi = {"standard": output.facts["mpi version"]} if "mpi version" in output.facts else {}
    return [Launch(number, ranks, mpi=mpi), Plan(number, len(cases)), *cases, End(number, "ok")]


def _environment(files: Sequence[Path], outputs: Sequence[Output]) -> dict[str, Any]:
    """What the files tell of themselves; of the machine that they were made on nothing else is known."""
    written = [datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds") for file in files]
    facts = {name: value for output in outputs for name, value in output.facts.items()}
    return {"imported": {"tool": outputs[0].tool, "tool_version": ", ".join(dict.fromkeys(each.version for each in outputs)),
                         "files": [str(file) for file in files], "files_written": written,
                         "notes": [note for output in outputs for note in output.notes]}, **facts}  # fmt: skip
