"""A run folder out of what other benchmarks have printed: one file is one launch, one row of a table one case line.

The average over ranks is taken, because both tools always print it; the row's other columns are kept beside it.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .folder import RunFolder
from .model import Case, End, Launch, Plan, RecordError
from .read import Record, read_record
from . import imb, osu
from .imported_table import Output, Row, Table, read_lines

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
    output = osu.parse(lines) or imb.parse(lines)
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
