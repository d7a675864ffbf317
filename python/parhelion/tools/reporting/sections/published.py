"""Published figures beside one's own: the same layout, from other machines."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....studies.published import FOLDER, HALO, PLACEMENT, Row, read_lines, read_rows
from ...style.words import microseconds, significant

HAND_WRITTEN = "mpi_comm"


@dataclass(frozen=True)
class PublishedTable:
    """Cells as they are shown; `speeds` are against hand-written MPI of the same toolchain, `None` where there is none."""

    title: str
    unit: str
    row_names: list[str]
    columns: list[str]
    rows: list[tuple[list[str], list[str], list[float | None]]]


def published(benchmark: str) -> list[PublishedTable]:
    """The published tables of a benchmark; empty when there are none."""
    tables = {"halo": (_halo, _placement), "gather": (_gather,), "alltoall": (_alltoall,), "ghosts": (_ghosts,)}
    return [table() for table in tables.get(benchmark, ())]


def _halo() -> PublishedTable:
    rows = [row for row in read_rows(FOLDER / HALO) if row.numbering == "XYZ"]
    title = "GHEX benchmark on Betzy, 27 nodes × 64 ranks, hwcart, numbering XYZ"
    return _exchanges(title, rows, ("runtime", "toolchain"))


def _placement() -> PublishedTable:
    title = "The same with ranks in blocked order (mpicart) and placed by hwcart, 64 and 128 ranks per node"
    return _exchanges(title, read_rows(FOLDER / PLACEMENT), ("placement", "ranks_per_node", "runtime", "toolchain"))


def _exchanges(title: str, published: Sequence[Row], names: tuple[str, ...]) -> PublishedTable:
    """Halo width × fields down, whatever `names` tell apart across."""
    told = [((str(row.halo), str(row.fields)), tuple(str(getattr(row, name)) for name in names), row.seconds) for row in published]
    times = {(place, column): seconds for place, column, seconds in told}
    columns = list(dict.fromkeys(column for _, column, seconds in told if seconds))
    runtime = names.index("runtime")
    rows = []
    for place in dict.fromkeys(place for place, _, _ in told):
        values = [times.get((place, column)) for column in columns]
        bases = [times.get((place, (*column[:runtime], HAND_WRITTEN, *column[runtime + 1 :]))) for column in columns]
        speeds = [base / value if base and value else None for value, base in zip(values, bases, strict=True)]
        rows.append((list(place), list(map(microseconds, values)), speeds))
    return PublishedTable(title, "µs per exchange", ["halo", "fields"], list(map(" ".join, columns)), rows)


def _gather() -> PublishedTable:
    cells = {((line["mesh"],), f"{line['kind']} {line['toolchain']}"): microseconds(_seconds(line["seconds_per_gather"]))
             for line in read_lines(FOLDER / "index_map_gather.csv")}  # fmt: skip
    return _plain("Index-map gather of coarray-halo-exchange, 12 images", "µs per gather", ["mesh"], cells)


def _alltoall() -> PublishedTable:
    cells = {((line["image"], line["network"], line["reservation"]), line["phase"].replace("_", " ")): line["value_with_uncertainty"]
             for line in read_lines(FOLDER / "alltoall_images.csv")}  # fmt: skip
    return _plain("MPI_Alltoall under several software images", "as published", ["image", "network", "reservation"], cells)


def _ghosts() -> PublishedTable:
    cells = {}
    for line in read_lines(FOLDER / "arraytrans_bandwidth.csv"):
        pull = f" ({line['time_per_pull']})" if line["time_per_pull"] else ""
        megabytes = float(line["bytes_per_second_per_rank"]) / 1e6
        cells[(line["machine"], line["np"]), f"vdim {line['vdim']}"] = f"{significant(megabytes)}{pull}"
    unit = "MB/s per rank, in brackets the time per pull"
    return _plain("ArrayTrans: six faces of 32³ rows pulled", unit, ["machine", "ranks"], cells)


def _plain(title: str, unit: str, row_names: list[str], cells: dict[tuple[tuple[str, ...], str], str]) -> PublishedTable:
    columns = list(dict.fromkeys(column for _, column in cells))
    places = dict.fromkeys(row for row, _ in cells)
    rows = [(list(row), [cells.get((row, column), "–") for column in columns], [None] * len(columns)) for row in places]
    return PublishedTable(title, unit, row_names, columns, rows)


def _seconds(text: str) -> float | None:
    return float(text) if text.strip() else None
