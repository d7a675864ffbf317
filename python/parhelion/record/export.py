"""Records as three flat tables (runs, cases by launch, samples), and SQL over them, by DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .model import Case, RecordError, flatten
from .read import Record, failed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Table = dict[str, np.ndarray]
TABLES = ("runs", "cases", "samples")
FORMATS = {"csv": "FORMAT csv, HEADER", "parquet": "FORMAT parquet", "json": "FORMAT json, ARRAY true"}


def query(records: Sequence[Record], sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of a query over the tables `runs`, `cases` and `samples`."""
    import duckdb

    if not sql.strip():
        raise RecordError("the query is empty: ask something, such as 'select * from runs'")
    with _connect(records) as connection:
        try:
            # A query reads records, not other files of the machine.
            connection.execute("SET enable_external_access = false")
            cursor = connection.execute(sql)
            if cursor is None or cursor.description is None:  # a comment alone is no statement
                raise RecordError("the query holds no statement: ask something, such as 'select * from runs'")
            return [column[0] for column in cursor.description], cursor.fetchall()
        except duckdb.Error as error:
            raise RecordError(f"the query failed: {error}") from None


def export(records: Sequence[Record], table: str, form: str, path: Path) -> int:
    """Write one of the tables to a file; returns its number of rows."""
    import duckdb

    with _connect(records) as connection:
        try:
            rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            connection.execute(f"COPY {table} TO '{str(path).replace(chr(39), chr(39) * 2)}' ({FORMATS[form]})")
        except duckdb.Error as error:
            raise RecordError(f"cannot write {path}: {error}") from None
    return rows[0] if rows else 0


def _connect(records: Sequence[Record]) -> DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect()
    for name, columns in tables(records).items():
        assert name in TABLES
        if not columns:
            connection.execute(f"CREATE TABLE {name} (run VARCHAR)")
            continue
        connection.register(f"_{name}", columns)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM _{name}")
    return connection


def tables(records: Sequence[Record]) -> dict[str, Table]:
    """All three tables by name; parameters of cases are columns, prefixed with `param_`."""
    lines = [(record, line) for record in records for line in record.cases]
    return {
        "runs": _table([_run(record) for record in records]),
        "cases": _table([_case(record, line) for record, line in lines]),
        "samples": _samples(lines),
    }


def _run(record: Record) -> dict[str, Any]:
    labels = {f"label_{name}": value for name, value in record.labels.items()}
    environment = {f"env_{name.replace(' ', '_')}": value for name, value in flatten(record.run.environment)}
    mpi = next((launch.mpi.get("library_version") for launch in record.launches), None)
    asked = {"run": record.id, "benchmark": record.run.benchmark, "created": record.run.created, "path": str(record.path)}
    counts = {"launches": len(record.launches), "lines": len(record.cases), "failed_launches": len(failed(record))}
    return asked | counts | {"mpi": mpi} | labels | environment


def _case(record: Record, line: Case) -> dict[str, Any]:
    setup = {f"setup_{part}_s": seconds for part, seconds in (line.setup_s or {}).items()}
    figures = {"median_s": float(np.median(line.samples)) if line.samples else None, "samples": len(line.samples)}
    told = {"role": line.role, "verified": line.verified, "error": line.error, "skipped": line.skipped,
            "bytes": line.bytes, "messages": line.messages}  # fmt: skip
    return _who(record, line) | told | figures | setup


def _who(record: Record, line: Case) -> dict[str, Any]:
    params = {f"param_{name}": _plain(value) for name, value in line.params.items()}
    return {"run": record.id, "launch": line.launch, "name": line.name, "contender": line.contender} | params


def _samples(lines: Iterable[tuple[Record, Case]]) -> Table:
    measured = [(record, line) for record, line in lines if line.samples]
    if not measured:
        return {}
    who = _table([_who(record, line) for record, line in measured])
    counts = [len(line.samples) for _, line in measured]
    repeated = {name: np.repeat(column, counts) for name, column in who.items()}
    columns = {"sample": [np.arange(count) for count in counts], "seconds": [np.asarray(line.samples) for _, line in measured],
               "probe_ns": [line.probes for _, line in measured]}  # fmt: skip
    return repeated | {name: np.concatenate(arrays) for name, arrays in columns.items()}


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column([row.get(name) for row in rows]) for name in names}


def _column(values: list[Any]) -> np.ndarray:
    """A typed array where all values are of one type, text otherwise; what is missing stays missing."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and None not in values and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    if kinds and kinds <= {int, float}:
        return np.array([np.nan if value is None else float(value) for value in values])
    plain = kinds <= {str} or kinds <= {bool}
    return np.array(values if plain else [None if value is None else str(value) for value in values], dtype=object)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else msgspec.json.encode(value).decode()
