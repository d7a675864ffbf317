"""Output of the Intel MPI Benchmarks: IMB-MPI1, -NBC, -RMA, -P2P and others with the same tables.

# Benchmarking Alltoall
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.03         0.03         0.03
"""

import re
from collections.abc import Sequence

from .imported_table import Line, Output, Row, Table, add_row, starts_with_number

TITLE = re.compile(r"^#\s+Intel\(R\) MPI Benchmarks (?P<version>\S+?),? (?P<part>.*?)\s*$")
TEST = re.compile(r"^#\s*Benchmarking\s+(?P<test>\S.*?)\s*$")
RANKS = re.compile(r"^#\s*#processes\s*=\s*(\d+)")
GROUPS = re.compile(r"^#\s*\(\s*(\d+) groups of (\d+) processes each")
MODE = re.compile(r"^#\s*MODE:\s*(\S+)")
FACT = re.compile(r"^#\s+(Date|Machine|System|Release|Version|MPI Version|MPI_Datatype)\s*:\s*(\S.*?)\s*$")
COLUMNS = re.compile(r"^\s*#(bytes|repetitions)\b.*\S")
NO_FIGURES = re.compile(r"^\s*(?P<size>\d+)\s+(?P<why>out-of-mem|int-overflow|.*time-?out)")


def parse(lines: Sequence[Line]) -> Output | None:
    """Everything in the file, or `None` when no line is a heading of IMB."""
    output, table = None, None
    for line in lines:
        if title := TITLE.match(line.text):
            output = output or Output("IMB", title["version"], [], {"part": title["part"]})
        elif found := TEST.match(line.text):
            output = output or Output("IMB", "unknown", [])
            table = Table(found["test"], {}, [])
            output.tables.append(table)
        elif table is None:
            if output and (fact := FACT.match(line.text)):
                output.facts.setdefault(fact[1].lower(), fact[2])
        elif output:
            table = _inside(output, table, line)
    return output


def _inside(output: Output, table: Table, line: Line) -> Table:
    text = line.text
    if found := RANKS.match(text):
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
