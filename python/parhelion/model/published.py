"""The published Betzy rows: what was run, what was published, what is fitted and what is held out."""

from __future__ import annotations

import csv
import functools
import io
from dataclasses import dataclass
from pathlib import Path

from .._files import read_bounded
from ..placement import Machine, Placement, PlacementError, place, place_by_hand
from .exchange import Exchange
from .fit import Fit, fit
from .traffic import Traffic, traffic

FILES = ("betzy_halo_exchange.csv", "betzy_mpicart_vs_hwcart.csv")
TOPOLOGY = "node:27 pack:2 numa:4 l3:4 core:4"
CELLS = (64, 64, 64)
FLOAT32 = 4
LARGEST = 2**26  # bytes of a file
EXCHANGES = 10_000
REPOSITORY = Path(__file__).parents[3] / "data" / "published"


@dataclass(frozen=True)
class Row:
    """One published row; `seconds` per exchange, None where nothing was published."""

    file: str
    placement: str
    ranks_per_node: int
    numbering: str
    runtime: str
    toolchain: str
    halo: int
    fields: int
    seconds: float | None

    @property
    def software(self) -> str:
        """Runtime and toolchain: what has parameters of its own."""
        return f"{self.runtime} {self.toolchain}"

    @property
    def calibrates(self) -> bool:
        """Fitted: 64 ranks a node, numbering XYZ, the extreme halo widths and numbers of fields. All others are held out."""
        return self.ranks_per_node == 64 and self.numbering == "XYZ" and self.halo in (1, 5) and self.fields in (1, 8)

    @property
    def exchange(self) -> Exchange:
        """Hand-written MPI went dimension by dimension and field by field; the others sent 26 messages."""
        staged = self.runtime == "mpi_comm"
        algorithm = "staged" if staged else "standard"
        return Exchange(CELLS, self.halo, self.fields, FLOAT32, algorithm, field_by_field=staged)


def published_rows(folder: str | Path | None = None) -> list[Row]:
    """All rows of both files, each once: the second file repeats some of the first."""
    rows: dict[tuple[object, ...], Row] = {}
    for name in FILES:
        for row in _read(Path(folder or REPOSITORY) / name):
            key = (row.placement, row.ranks_per_node, row.numbering, row.software, row.halo, row.fields)
            rows.setdefault(key, row)
    return list(rows.values())


@functools.cache
def published_placement(kind: str, ranks_per_node: int) -> Placement:
    """hwcart's published blocks, or MPI_Cart's grid in blocked order."""
    machine = Machine(TOPOLOGY, ranks_per_node=ranks_per_node)
    if kind == "hwcart":
        blocks = {"node": (3, 3, 3), "socket": (1, 1, 2), "numa": (1, 2, 2), "l3": (2, 2, 1), "core": (ranks_per_node // 32, 1, 1)}
        return place_by_hand(machine, blocks, periodic=True)
    return place((12 * ranks_per_node // 64, 12, 12), machine, periodic=True, method="blocked")


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
    """What a row's exchange lets cross each level."""
    return published_traffic(row.placement, row.ranks_per_node, row.exchange)


def _read(path: Path) -> list[Row]:
    try:
        text = read_bounded(path, LARGEST).decode()
        return [_row(path.name, cells) for cells in csv.DictReader(io.StringIO(text, newline=""))]
    except OSError as error:
        raise PlacementError(f"the published figures {path} cannot be read: it {error.strerror}; give their folder with --data") from None
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise PlacementError(f"{path} does not hold published figures ({error}): give their folder with --data") from None


def _row(file: str, cells: dict[str, str]) -> Row:
    seconds = cells["seconds_per_10000_exchanges"]
    return Row(
        file, cells["placement"], int(cells["ranks_per_node"]), cells["numbering"], cells["runtime"], cells["toolchain"],
        int(cells["halo_width"]), int(cells["fields"]), float(seconds) / EXCHANGES if seconds else None,
    )  # fmt: skip
