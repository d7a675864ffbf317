"""SQL over records, and export, both by DuckDB: one wheel that also writes CSV, Parquet and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import RecordError
from .read import Record
from .tables import TABLES, tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
