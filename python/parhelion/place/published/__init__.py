"""Published measurements, one CSV file per table (sources: README.md), and those on Betzy in the model's terms."""

import csv
import functools
import io
from dataclasses import dataclass
from pathlib import Path

from ...base.files import write_whole
from ...placement import Machine, Placement, place, place_by_hand
from ..fit import Fit, fit
from ..traffic import Exchange, Traffic, traffic

FOLDER = Path(__file__).parent
EXCHANGES = 10_000
TOPOLOGY = "node:27 pack:2 numa:4 l3:4 core:4"
CELLS = (64, 64, 64)
FLOAT32 = 4


def read_lines(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class Row:
    """A halo exchange on Betzy with one software stack, blocked or placed; `seconds` are per exchange."""

    placement: str
    ranks_per_node: int
    numbering: str
    runtime: str
    toolchain: str
    halo: int
    fields: int
    seconds: float

    @property
    def software(self) -> str:
        return f"{self.runtime} {self.toolchain}"

    @property
    def key(self) -> tuple[object, ...]:
        return self.placement, self.ranks_per_node, self.numbering, self.software, self.halo, self.fields

    @property
    def calibrates(self) -> bool:
        """Whether the fit uses the row: 64 ranks per node, numbering XYZ, extreme halo widths and numbers of fields."""
        return self.ranks_per_node == 64 and self.numbering == "XYZ" and self.halo in (1, 5) and self.fields in (1, 8)

    @property
    def traffic(self) -> Traffic:
        """Traffic across each level. Hand-written MPI went dimension by dimension and field by field; others sent 26 messages."""
        in_turn = self.runtime == "mpi_comm"
        exchange = Exchange(CELLS, self.halo, self.fields, FLOAT32, "by_dimension" if in_turn else "standard", field_by_field=in_turn)
        return _traffic(self.placement, self.ranks_per_node, exchange)


def published_rows() -> list[Row]:
    return [
        Row(line["placement"], int(line["ranks_per_node"]), line["numbering"], line["runtime"], line["toolchain"], int(halo), int(fields),
            float(line[f"{halo}x{fields}"]) / EXCHANGES)
        for line in read_lines("betzy") for halo in "1245" for fields in "1248" if line[f"{halo}x{fields}"]
    ]


def published_grid(ranks_per_node: int) -> tuple[int, int, int]:
    """Process grid of blocked order: 12 × 12 × 12 with 64 ranks per node, 24 × 12 × 12 with 128."""
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
def _traffic(kind: str, ranks_per_node: int, exchange: Exchange) -> Traffic:
    return traffic(published_placement(kind, ranks_per_node), exchange)


@dataclass(frozen=True)
class Check:
    """The model fitted to each software's calibration rows, and its predictions for all rows."""

    rows: list[Row]
    fits: dict[str, Fit]

    def predicted(self, row: Row) -> float:
        return self.fits[row.software].parameters.predict(row.traffic)

    def error(self, row: Row) -> float:
        return self.predicted(row) / row.seconds - 1

    def held_out(self, software: str = "") -> list[float]:
        return [self.error(row) for row in self.rows if not row.calibrates and software in ("", row.software)]

    def write(self, path: Path) -> None:
        head = ("placement", "ranks_per_node", "numbering", "software", "halo", "fields", "published_ms", "model_ms", "error_percent", "used_for")
        file = io.StringIO()
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(head)
        for row in sorted(self.rows, key=lambda row: (row.software, row.key)):
            figures = f"{1e3 * row.seconds:.3f}", f"{1e3 * self.predicted(row):.3f}", f"{100 * self.error(row):+.0f}"
            lines.writerow((*row.key, *figures, "fit" if row.calibrates else "held out"))
        write_whole(path, file.getvalue().encode())


@functools.cache
def check_published() -> Check:
    rows, fits = published_rows(), {}
    for software in dict.fromkeys(row.software for row in rows):
        used = [row for row in rows if row.software == software and row.calibrates]
        fits[software] = fit(software, [row.traffic for row in used], [row.seconds for row in used])
    return Check(rows, fits)
