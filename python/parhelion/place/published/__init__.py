"""Figures that others published, one CSV file per table; README.md says where they come from. Nothing here is measured or computed."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from ...base.files import read_bounded

FOLDER = Path(__file__).parent
HALO, PLACEMENT = "betzy_halo_exchange.csv", "betzy_mpicart_vs_hwcart.csv"
EXCHANGES = 10_000
LARGEST = 2**26  # bytes of a file


def read_lines(path: Path) -> list[dict[str, str]]:
    """The lines of a table, cells by column."""
    text = read_bounded(path, LARGEST).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@dataclass(frozen=True)
class Row:
    """One row of the two tables about Betzy, halo exchanges of several kinds of software, in blocked order and placed.

    `seconds` are per exchange, None where nothing was published.
    """

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


def read_rows(path: Path) -> list[Row]:
    """All rows of a file: one per line, or one per cell where columns are named by halo width × fields, such as `1x8`."""
    rows = []
    for line in read_lines(path):
        long = "halo_width" in line
        cells = {(line["halo_width"], line["fields"]): line["seconds_per_10000_exchanges"]} if long else {
            tuple(name.split("x")): cell for name, cell in line.items() if name[:1].isdigit()}  # fmt: skip
        rows += [Row(line["placement"], int(line["ranks_per_node"]), line["numbering"], line["runtime"], line["toolchain"], int(halo), int(fields),
                     float(cell) / EXCHANGES if cell else None) for (halo, fields), cell in cells.items()]  # fmt: skip
    return rows
