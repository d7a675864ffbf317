"""One row of a table as a case line.

The average over ranks is taken, because both tools always print it; the row's other columns are kept beside it.
"""

import re
from typing import Any

from ...records.model import Case
from .table import Output, Row, Table

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
