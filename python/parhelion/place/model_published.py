"""The published Betzy rows in the model's terms: how ranks were placed, what they exchanged, and the fit to them."""

import csv
import functools
from pathlib import Path

from ..placement import Machine, Placement, PlacementError, place, place_by_hand
from .published import FOLDER, HALO, PLACEMENT, Row, read_rows
from .traffic import Exchange, Traffic, traffic
from .fit import Fit, fit

TOPOLOGY = "node:27 pack:2 numa:4 l3:4 core:4"
CELLS = (64, 64, 64)
FLOAT32 = 4


def published_rows(folder: str | Path | None = None) -> list[Row]:
    """All rows of both files, each once: the second file repeats some of the first."""
    rows: dict[tuple[object, ...], Row] = {}
    for name in (HALO, PLACEMENT):
        for row in _read(Path(folder or FOLDER) / name):
            key = (row.placement, row.ranks_per_node, row.numbering, row.software, row.halo, row.fields)
            rows.setdefault(key, row)
    return list(rows.values())


def published_grid(ranks_per_node: int) -> tuple[int, int, int]:
    """The process grid of blocked order: 12 × 12 × 12 with 64 ranks a node, 24 × 12 × 12 with 128."""
    return 12 * ranks_per_node // 64, 12, 12


@functools.cache
def published_placement(kind: str, ranks_per_node: int) -> Placement:
    """hwcart's published blocks, or MPI_Cart's grid in blocked order."""
    machine = Machine(TOPOLOGY, ranks_per_node=ranks_per_node)
    if kind == "hwcart":
        blocks = {"node": (3, 3, 3), "socket": (1, 1, 2), "numa": (1, 2, 2), "l3": (2, 2, 1), "core": (ranks_per_node // 32, 1, 1)}
        return place_by_hand(machine, blocks, periodic=True)
    return place(published_grid(ranks_per_node), machine, periodic=True, method="blocked")


@functools.cache
def published_traffic(kind: str, ranks_per_node: int, exchange: Exchange) -> Traffic:
    """What a row's exchange lets cross each level."""
    return traffic(published_placement(kind, ranks_per_node), exchange)


def fit_published(rows: list[Row]) -> dict[str, Fit]:
    """One fit per software, to the rows that calibrate."""
    fits = {}
    for software in dict.fromkeys(row.software for row in rows):
        used = [row for row in rows if row.software == software and row.calibrates and row.seconds]
        if used:
            fits[software] = fit(software, [row_traffic(row) for row in used], [row.seconds for row in used])
    return fits


def row_traffic(row: Row) -> Traffic:
    """What a row's exchange lets cross each level. Hand-written MPI went dimension by dimension and field by field; the others sent 26 messages."""
    staged = row.runtime == "mpi_comm"
    exchange = Exchange(CELLS, row.halo, row.fields, FLOAT32, "staged" if staged else "standard", field_by_field=staged)
    return published_traffic(row.placement, row.ranks_per_node, exchange)


def _read(path: Path) -> list[Row]:
    try:
        return read_rows(path)
    except OSError as error:
        raise PlacementError(f"the published figures {path} cannot be read: it {error.strerror}; give their folder with --data") from None
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise PlacementError(f"{path} does not hold published figures ({error}): give their folder with --data") from None
