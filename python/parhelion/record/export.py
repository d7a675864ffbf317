"""Export of records as three flat tables (runs, cases by launch, samples) through DuckDB; medians: `show.trackers`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .model import Case, RecordError, flatten
from .read import Record, failed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLES = ("runs", "cases", "samples")
FORMATS = {"csv": "FORMAT csv, HEADER", "parquet": "FORMAT parquet", "json": "FORMAT json, ARRAY true"}


def export(records: Sequence[Record], table: str, form: str, path: Path) -> int:
    """Write one table to a file; returns its number of rows. Raises `RecordError`."""
    import duckdb

    with _connect(records) as connection:
        try:
            rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            connection.execute(f"COPY {table} TO '{str(path).replace(chr(39), chr(39) * 2)}' ({FORMATS[form]})")
        except duckdb.Error as error:
            raise RecordError(f"cannot write {path}: {error}") from None
    return rows[0] if rows else 0


def _connect(records: Sequence[Record]) -> DuckDBPyConnection:
    """Create a database of the three tables; case parameters become columns `param_…`."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET pandas_analyze_sample = 1000000000")  # infer a column's type from all of its values
    lines = [(record, line, _who(record, line)) for record in records for line in record.cases]
    _create(connection, "runs", [_run(record) for record in records])
    _create(connection, "cases", [who | _case(line) for _, line, who in lines])
    _create(connection, "samples", [who | {"sample": list(range(len(line.samples))), "seconds": line.samples, "probe_ns": line.probes.tolist()}
                                    for _, line, who in lines if line.samples],
            "* EXCLUDE (sample, seconds, probe_ns), unnest(sample) AS sample, unnest(seconds) AS seconds, unnest(probe_ns) AS probe_ns")
    return connection


def _create(connection: DuckDBPyConnection, name: str, rows: Sequence[dict[str, Any]], columns: str = "*") -> None:
    if not rows:
        connection.execute(f"CREATE TABLE {name} (run VARCHAR)")
        return
    names = dict.fromkeys(name for row in rows for name in row)
    connection.register("_rows", {name: _column([row.get(name) for row in rows]) for name in names})
    connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM _rows")
    connection.unregister("_rows")


def _column(values: list[Any]) -> np.ndarray:
    """Return a column; DuckDB infers its type. Booleans mixed with other types become text."""
    kinds = {type(value) for value in values if value is not None}
    if bool in kinds and len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _run(record: Record) -> dict[str, Any]:
    labels = {f"label_{name}": value for name, value in record.labels.items()}
    environment = {f"env_{name.replace(' ', '_')}": value for name, value in flatten(record.run.environment)}
    mpi = next((_plain(launch.mpi.get("library_version")) for launch in record.launches), None)
    asked = {"run": record.id, "benchmark": record.run.benchmark, "created": record.run.created, "path": str(record.path)}
    counts = {"launches": len(record.launches), "lines": len(record.cases), "failed_launches": len(failed(record))}
    return asked | counts | {"mpi": mpi} | labels | environment


def _who(record: Record, line: Case) -> dict[str, Any]:
    params = {f"param_{name}": _plain(value) for name, value in line.params.items()}
    return {"run": record.id, "launch": line.launch, "name": line.name, "variant": line.variant} | params


def _case(line: Case) -> dict[str, Any]:
    told = {name: getattr(line, name) for name in ("role", "verified", "error", "skipped", "bytes", "messages")}
    figures = {"median_s": float(np.median(line.samples)) if line.samples else None, "samples": len(line.samples)}
    return told | figures | {f"setup_{part}_s": seconds for part, seconds in (line.setup_s or {}).items()}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else msgspec.json.encode(value).decode()
