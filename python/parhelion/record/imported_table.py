"""Tables in the output of a benchmark, line by line."""

from dataclasses import dataclass, field
from pathlib import Path

from ..base.files import read_bounded
from .model import RecordError

GREATEST = 2.0**62
LARGEST = 64 * 2**20  # bytes; such files have some hundred lines


@dataclass
class Row:
    """One line: numbers (and `Pass`, `Fail`) by column, or why the benchmark gave none."""

    values: dict[str, float | str]
    missing: str | None = None


@dataclass
class Table:
    """One test with its parameters, such as its ranks."""

    test: str
    params: dict[str, int | str]
    columns: list[str]
    rows: list[Row] = field(default_factory=list)


@dataclass
class Output:
    """What one file holds. `facts` are what it says about itself."""

    tool: str
    version: str
    tables: list[Table]
    facts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Line:
    """A line with its place, for messages."""

    file: Path
    number: int
    text: str
    whole: bool = True

    def error(self, why: str) -> RecordError:
        return RecordError(f"{self.file}, line {self.number}: {why}; nothing was imported")


def read_lines(file: Path) -> list[Line]:
    """The lines of a text file; raises `RecordError` for anything else."""
    try:
        text = read_bounded(file, LARGEST).decode()
    except UnicodeDecodeError:
        raise RecordError(f"{file} is no output of OSU or IMB: it is not a text file") from None
    except OSError as error:
        raise RecordError(f"cannot read {file}: {error.strerror}") from None
    lines = text.split("\n")
    return [Line(file, number, line.rstrip("\r"), number < len(lines)) for number, line in enumerate(lines, start=1)]


def add_row(output: Output, table: Table, line: Line) -> None:
    """Add a line of figures; the last line of a file may be cut short, no other."""
    words = line.text.split()
    if len(words) == len(table.columns):
        table.rows.append(Row({name: _value(word, line) for name, word in zip(table.columns, words, strict=True)}))
    elif line.whole:
        raise line.error(f"{len(words)} columns where {len(table.columns)} are announced: '{line.text.strip()[:60]}'")
    else:
        output.notes.append(f"the last line of {line.file.name} was cut short and is left out")


def _value(word: str, line: Line) -> float | str:
    if word in ("Pass", "Fail"):
        return word
    try:
        value = float(word)
    except ValueError:
        raise line.error(f"'{word[:40]}' is no number") from None
    if not 0 <= value < GREATEST:
        raise line.error(f"'{word[:40]}' is no time, size or rate")
    return value


def starts_with_number(text: str) -> bool:
    """Is the first word of a line a number?"""
    try:
        float(text.split()[0])
    except (ValueError, IndexError):
        return False
    return True
