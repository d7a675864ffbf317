"""Output of the OSU Micro-Benchmarks, versions 3 to 7.

A heading names the test, a comment line with two or more blanks between its words the columns:

    # OSU MPI All-to-All Personalized Exchange Latency Test v7.4
    # Datatype: MPI_CHAR.
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
    1                       1.52              1.40              1.63        1000
"""

import re
from collections.abc import Sequence

from .imported_table import Line, Output, Row, Table, add_row, starts_with_number

TITLE = re.compile(r"^#\s*OSU (?P<test>.+?)(?: Test)?\s+v(?P<version>[\w.]+)\s*$")
UNITS = re.compile(r"\((us|ms|MB/s|GB/s)\)|^MB/s$|^Messages/s$")
PAIRS = re.compile(r"\[ pairs: (\d+) \] \[ window size: (\d+) \]")
FACT = re.compile(r"^#\s*(Datatype|Window creation|Synchronization|Window size|Buffer Size):?\s*(.+?)\.?\s*$", re.IGNORECASE)
INIT = re.compile(r"^nprocs: (\d+), min: ([\d.]+) ms, max: ([\d.]+) ms, avg: ([\d.]+) ms\s*$")
BETWEEN_TWO = re.compile(
    r"^MPI(_\w+)? (Latency|Bandwidth|Bi-Directional Bandwidth)|^MPI_(Put|Get|Accumulate|Compare_and_swap|Fetch_and_op)"
)


def parse(lines: Sequence[Line]) -> Output | None:
    """Everything in the file, or `None` when no line is a heading of OSU."""
    output, table = None, None
    for line in lines:
        if title := TITLE.match(line.text):
            output = output or Output("OSU", title["version"], [])
            table = Table(title["test"], {"ranks": 2} if BETWEEN_TWO.match(title["test"]) else {}, [])
            output.tables.append(table)
        elif output and table:
            _inside(output, table, line)
    return output


def _inside(output: Output, table: Table, line: Line) -> None:
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
    if columns and any(UNITS.search(name) for name in columns) and len(set(columns)) == len(columns):
        table.columns = columns
    elif found := FACT.match(text):
        table.params[found[1].lower().replace(" ", "_")] = found[2]
