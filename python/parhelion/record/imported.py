"""Import of output of the OSU Micro-Benchmarks (3 to 7), the Intel MPI Benchmarks (IMB) or Comb as a run folder.

Each file becomes a launch, each table row a case. Its time is the average over ranks, which OSU and IMB always print;
`explain` keeps the other columns.

    # OSU MPI All-to-All Personalized Exchange Latency Test v7.4
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
    1                       1.52              1.40              1.63        1000

    # Benchmarking Alltoall
    # #processes = 2
           #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
                0         1000         0.03         0.03         0.03

Each test in Comb's summary becomes a case; its time is the sum of the four phases.

    Starting test Comm mpi Mesh seq Host Buffers seq Host seq Host
    post-recv: num 200 avg 0.000001 s min 0.000001 s max 0.000004 s
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..base.files import read_bounded
from .folder import RunFolder
from .model import Case, End, Launch, Plan, RecordError
from .read import Record, parse_line, read_record

GREATEST = 2.0**62
LARGEST = 64 * 2**20  # bytes

Params = dict[str, int | str | list[int]]


@dataclass
class Table:
    """One test; a row holds numbers, `Pass` or `Fail` by column, and the reason for missing values or `None`."""

    test: str
    params: Params = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[dict[str, float | str], str | None]] = field(default_factory=list)


class Line(NamedTuple):
    """A line with its position for error messages; the last line of a file may be truncated."""

    file: Path
    number: int
    text: str
    whole: bool = True

    def error(self, why: str) -> RecordError:
        return RecordError(f"{self.file}, line {self.number}: {why}; nothing was imported")


TITLES = (  # tool, pattern of the lines that begin its output or a test
    ("OSU", re.compile(r"^#\s*OSU (?P<test>.+?)(?: Test)?\s+v(?P<version>[\w.]+)\s*$")),
    ("IMB", re.compile(r"^#\s+Intel\(R\) MPI Benchmarks (?P<version>\S+?),? (?P<part>.*?)\s*$")),
    ("IMB", re.compile(r"^#\s*Benchmarking\s+(?P<test>\S.*?)\s*$")),
    ("Comb", re.compile(r"^Comb version (?P<version>\S+)")),
    ("Comb", re.compile(r"^Started (rank \d+ of \d+|\d+ ranks)$")),  # before versions
    ("Comb", re.compile(r"^(?:Starting test )?(?P<test>(?:Comm|memcpy) \S.*?|Mesh \S.*? Buffers .*?)\s*$")),
)
COMB_SETTING = re.compile(r"^(Num vars|ghost_widths?|sizes?|divisions|periodic)\s+(\d+)(?:\s+(\d+)\s+(\d+))?\s*$")
COMB_PHASE = re.compile(r"^(?P<phase>[\w-]+):\s+num (?P<count>\d+) (?P<of>sum|avg) (?P<seconds>\d+\.?\d*(?:e-?\d+)?) s min \S+ s max \S+ s\s*$")
COMB_NUMBERS = {"Num vars": "fields", "ghost_widths": "halo", "ghost_width": "halo"}  # if equal in all dimensions
COMB_PHASES = ("post-recv", "post-send", "wait-recv", "wait-send")
BETWEEN_TWO = re.compile(r"^MPI([-_]\w+)? (Multi-\w+ )?(Latency|Bandwidth|Bi-Directional Bandwidth)|^MPI_(Put|Get|Accumulate|Compare_and_swap|Fetch_and_op)")
ABOUT = re.compile(r"^#\s+(Date|Machine|System|Release|Version|MPI Version|MPI_Datatype)\s*:\s*(\S.*?)\s*$")
PARAMS: tuple[tuple[re.Pattern[str], Callable[..., Params]], ...] = (
    (re.compile(r"^#.*\[ pairs: (\d+) \] \[ window size: (\d+) \]"), lambda pairs, window: {"ranks": 2 * int(pairs), "window": int(window)}),
    (re.compile(r"^#\s*#processes\s*=\s*(\d+)"), lambda ranks: {"ranks": int(ranks)}),
    (re.compile(r"^#\s*\(\s*(\d+) groups of (\d+) processes each"), lambda groups, ranks: {"ranks": int(groups) * int(ranks), "groups": int(groups)}),
    (re.compile(r"^#\s*MODE:\s*(\S+)"), lambda mode: {"mode": mode}),
    (re.compile(r"^# (?:Send Buffer|Rank 0 Memory) on (\S+) .*(?:Receive Buffer|Rank 1 Memory) on (\S+)"), lambda first, second: {"buffers": f"{first} to {second}"}),
    (re.compile(r"^#\s*(Datatype|Window creation|Synchronization|Window size|Buffer Size|Number of \w+ \w+):?\s*(.+?)\.?\s*$", re.IGNORECASE),
     lambda name, value: {name.lower().replace(" ", "_"): value}),
)
INIT = re.compile(r"^nprocs: (\d+), min: (\d+\.?\d*) ms, max: (\d+\.?\d*) ms, avg: (\d+\.?\d*) ms\s*$")
UNIT = re.compile(r"\((us|ms|MB/s|GB/s)\)|^MB/s$|^Messages/s$")
IMB_COLUMNS = re.compile(r"^\s*#(bytes|repetitions)\b.*\S")
NO_FIGURES = re.compile(r"^\s*(?P<size>\d+)\s+(?P<why>out-of-mem|int-overflow|.*time-?out)")


@dataclass
class Output:
    """Parsed contents of one file; `facts` are its metadata."""

    tool: str = ""
    version: str = "unknown"
    tables: list[Table] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    settings: Params = field(default_factory=dict)  # parameters of all following tables

    def add(self, line: Line) -> None:
        """Parse one line."""
        text = line.text
        for tool, pattern in TITLES:
            if (found := pattern.match(text)) and self.tool in ("", tool):
                self._begin(tool, **found.groupdict())
                return
        if self.tool == "Comb":
            self._comb(text)
            return
        if not self.tables:
            if self.tool and (found := ABOUT.match(text)):
                self.facts.setdefault(found[1].lower(), found[2])
            return
        table = self.tables[-1]
        if found := INIT.match(text):
            ranks, low, high, mean = found.groups()
            table.columns, table.params["ranks"] = ["Avg(ms)", "Min(ms)", "Max(ms)"], int(ranks)
            table.rows.append(({"Avg(ms)": float(mean), "Min(ms)": float(low), "Max(ms)": float(high)}, None))
        elif columns := _columns(text):
            self._next(table).columns = columns
        elif params := next((told(*found.groups()) for pattern, told in PARAMS if (found := pattern.match(text))), None):
            (self._next(table) if "mode" in params else table).params.update(params)
        elif table.columns and (found := NO_FIGURES.match(text)):
            table.rows.append(({"#bytes": float(found["size"])}, text.strip()))
        else:
            self._row(table, line)

    def _begin(self, tool: str, test: str = "", version: str = "", part: str = "") -> None:
        self.tool = tool
        if version and not self.tables:
            self.version = version
        if part:
            self.facts["part"] = part
        if test:
            self.tables.append(Table(test, {"ranks": 2} if BETWEEN_TWO.match(test) and tool == "OSU" else dict(self.settings)))

    def _comb(self, text: str) -> None:
        if found := COMB_SETTING.match(text):
            name, numbers = found[1], [int(each) for each in found.groups()[1:] if each]
            if alike := len(set(numbers)) == 1 and COMB_NUMBERS.get(name):
                self.settings[alike] = numbers[0]
            else:
                self.settings[{"sizes": "cells", "size": "cells", "divisions": "grid"}.get(name, name)] = [each > 0 for each in numbers] if name == "periodic" else numbers
            if name == "divisions":
                self.settings["ranks"] = math.prod(numbers)
        elif self.tables and (found := COMB_PHASE.match(text)):
            table, mean = self.tables[-1], float(found["seconds"]) / (max(int(found["count"]), 1) if found["of"] == "sum" else 1)
            table.rows = [({**(table.rows[0][0] if table.rows else {}), found["phase"]: mean}, None)]

    def _next(self, table: Table) -> Table:
        """Return the table for the next rows; one-sided tests print one table per mode."""
        if table.rows:
            self.tables.append(Table(table.test, {name: value for name, value in table.params.items() if name != "mode"}))
        return self.tables[-1]

    def _row(self, table: Table, line: Line) -> None:
        words = line.text.split()
        if not (table.columns and words and _number(words[0]) is not None):
            return
        if len(words) == len(table.columns):
            table.rows.append(({name: _value(word, line) for name, word in zip(table.columns, words)}, None))
        elif line.whole:
            raise line.error(f"{len(words)} columns, but the header has {len(table.columns)}: '{line.text.strip()[:60]}'")
        else:
            self.notes.append(f"the last line of {line.file.name} was cut short and is left out")


def _columns(text: str) -> list[str]:
    """Split a table heading: IMB at blanks, OSU at two or more blanks."""
    if IMB_COLUMNS.match(text):
        return text.split()
    columns = [word for word in re.split(r"\s{2,}|\t+", text.lstrip("#").strip()) if word] if text.startswith("#") else []
    return columns if any(map(UNIT.search, columns)) and len(set(columns)) == len(columns) else []


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
        raise line.error(f"'{word[:40]}' is not a number")
    if not 0 <= value < GREATEST:
        raise line.error(f"'{word[:40]}' is not a time, size or rate")
    return value


SIZES = ("Size", "#bytes", "Message Size", "Size (B)")
COUNTS = ("#repetitions", "Iterations")
# By priority: overall time of nonblocking tests, averages, plain times.
TIMES = (r"^Overall\(", r"^Avg", r"^t_avg\[", r"^t_ovrl\[", r"^Latency", r"^t\[", r"\((us|ms)\)$", r"\[usec\]$")
RATES = (r"\(MB/s\)$", r"^MB/s$", r"^Mbytes/sec$")
BYTES_PER_MB = 1e6


def _case(launch: int, output: Output, table: Table, values: dict[str, float | str], missing: str | None) -> Case:
    """Convert a row to a case with its time in seconds, or the reason for its absence."""
    if output.tool == "Comb":
        return _comb_case(launch, table, values)
    size, count = (next((values[name] for name in names if name in values), None) for names in (SIZES, COUNTS))
    params: dict[str, Any] = {"test": table.test, **({} if size is None else {"size": int(size)}), **table.params}
    who: dict[str, Any] = {"launch": launch, "name": table.test, "variant": output.tool.lower(), "params": params, "role": "library"}
    if missing:
        return Case(**who, skipped=missing)
    column, seconds = _seconds(table.columns, values, size)
    if seconds is None:
        return Case(**who, skipped=f"no column of {', '.join(table.columns)} is a time")
    told = ", ".join(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in values.items())
    # Result of the benchmark's own validation, if any.
    verified = values["Validation"] == "Pass" if "Validation" in values else values["defects"] == 0 if "defects" in values else None
    return Case(**who, verified=verified, samples=[seconds], iterations=None if count is None else int(count), explain=f"{column}; {told}")


def _comb_case(launch: int, table: Table, values: dict[str, float | str]) -> Case:
    phases = {name.replace("-", "_"): [float(values[name])] for name in COMB_PHASES if name in values}
    who: dict[str, Any] = {"launch": launch, "name": "comb", "variant": table.test, "params": table.params, "role": "library"}
    if not phases:
        return Case(**who, skipped=f"no phase of an exchange among {', '.join(values)}")
    told = ", ".join(f"{name} {value * 1e6:g} us" for name, value in values.items() if isinstance(value, float))
    return Case(**who, samples=[sum(seconds for [seconds] in phases.values())], phases_s=phases, explain=told)


def _seconds(columns: Sequence[str], values: dict[str, float | str], size: float | str | None) -> tuple[str, float | None]:
    for patterns in (TIMES, RATES):
        for name in (name for pattern in patterns for name in columns if re.search(pattern, name)):
            value = values.get(name)
            if isinstance(value, float) and patterns is TIMES:
                return name, value * (1e-3 if "ms" in name else 1e-6 if "us" in name else 1.0)
            if isinstance(value, float) and value > 0 and isinstance(size, float) and size > 0:
                return f"size / {name}", size / (value * BYTES_PER_MB)
    return "", None


def import_files(files: Sequence[Path], out: Path | None, labels: dict[str, str], ranks: int | None, argv: list[str]) -> Record:
    """Create a run from the files; if one is invalid, raises `RecordError` and creates nothing."""
    outputs = [_parse(file, ranks) for file in files]
    tools = sorted({output.tool for output in outputs})
    if len(tools) > 1:
        raise RecordError(f"the files are output of {' and '.join(tools)}: import them one tool at a time")
    try:
        lines = [line for number, output in enumerate(outputs) for line in _lines(number, output)]
        damaged = any(not _can_be_read(line) for line in lines)
    except ArithmeticError:
        damaged = True
    if damaged:
        raise RecordError(f"{', '.join(map(str, files))}: a number is too large for a record; imported nothing")
    folder = RunFolder.create(tools[0].lower(), argv, _environment(files, outputs), out, labels)
    for line in lines:
        folder.append(line)
    return read_record(folder.path)


def _can_be_read(line: Launch | Plan | Case | End) -> bool:
    try:
        return parse_line(msgspec.json.encode(line), Path(), 0) is not None
    except RecordError:
        return False


def _parse(file: Path, ranks: int | None) -> Output:
    output = Output()
    for line in _read(file):
        try:
            output.add(line)
        except RecordError:
            raise
        except (ArithmeticError, ValueError):
            raise line.error("a number is too large") from None
    if not output.tool:
        raise RecordError(f"{file} is not output of OSU, IMB or Comb: no line begins with '# OSU …', '# Benchmarking …' or 'Comm …'")
    if not any(table.rows for table in output.tables):
        raise RecordError(f"{file} is output of {output.tool}, but holds no figures")
    for table in output.tables:
        told = table.params.get("ranks", ranks)
        if told is None:
            raise RecordError(f"{file}: '{table.test}' does not state its number of ranks: give --ranks")
        table.params["ranks"] = told
    return output


def _read(file: Path) -> list[Line]:
    try:
        lines = read_bounded(file, LARGEST).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise RecordError(f"{file} is not output of OSU, IMB or Comb: it is not a text file") from None
    except OSError as error:
        raise RecordError(f"cannot read {file}: {error.strerror}") from None
    return [Line(file, number, line.rstrip("\r"), number < len(lines)) for number, line in enumerate(lines, start=1)]


def _lines(number: int, output: Output) -> list[Launch | Plan | Case | End]:
    cases = [_case(number, output, table, *row) for table in output.tables for row in table.rows]
    ranks = max(case.params["ranks"] for case in cases)
    mpi = {"standard": output.facts["mpi version"]} if "mpi version" in output.facts else {}
    return [Launch(number, ranks, mpi=mpi), Plan(number, len(cases)), *cases, End(number, "ok")]


def _environment(files: Sequence[Path], outputs: Sequence[Output]) -> dict[str, Any]:
    """Return the files' metadata; they do not describe the machine."""
    written = [datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds") for file in files]
    facts = {name: value for output in outputs for name, value in output.facts.items()}
    return {"imported": {"tool": outputs[0].tool, "tool_version": ", ".join(dict.fromkeys(each.version for each in outputs)),
                         "files": [str(file) for file in files], "files_written": written,
                         "notes": [note for output in outputs for note in output.notes]}, **facts}
