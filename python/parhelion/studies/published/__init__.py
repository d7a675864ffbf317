"""Figures that others published, one CSV file per table; README.md says where they come from. Nothing here is measured or computed."""

import csv
import io
from pathlib import Path

from ...base.files import read_bounded

FOLDER = Path(__file__).parent
LARGEST = 2**26  # bytes of a file


def read_lines(path: Path) -> list[dict[str, str]]:
    """The lines of a table, cells by column."""
    text = read_bounded(path, LARGEST).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))
