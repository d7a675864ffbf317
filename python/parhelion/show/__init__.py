"""Pages of blocks, made from an analysis and written to the terminal, as HTML or as Markdown.

`results`, `report` and `compare` build blocks, `terminal` and `files` write them, `plots` draws. Computations belong in `analyze`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Cell(NamedTuple):
    """A table cell; `small` stands below or after `text`, `sort` is the sort key.

    `kind` is good, bad, note, dim, slower, faster or a role.
    """

    text: str
    small: str = ""
    kind: str = ""
    sort: float | None = None


Word = str | Cell


def text_of(word: Word) -> str:
    return word.text if isinstance(word, Cell) else word


@dataclass(frozen=True)
class Table:
    """The first `words` columns name a row; HTML folds the table under the title `fold`; `foot` rows are not sorted."""

    head: Sequence[str]
    rows: Sequence[Sequence[Word]]
    words: int = 1
    title: str = ""
    caption: str = ""
    fold: str = ""
    kind: str = ""
    foot: Sequence[Sequence[Word]] = ()

    def left(self, column: int) -> bool:
        """Whether a column holds words, which are left-aligned."""
        texts = [text for row in self.rows if (text := text_of(row[column])) not in ("", "–")]
        figures = sum(text[:1].isdigit() or (text[:1] in "<±×−+" and text[1:2].isdigit()) for text in texts)
        return column == self.words - 1 or 2 * figures <= len(texts)

    def only(self, columns: Sequence[int]) -> "Table":
        """Return the table with these columns only."""
        rows, foot = ([[row[column] for column in columns] for row in each] for each in (self.rows, self.foot))
        return Table([self.head[column] for column in columns], rows, self.words, self.title, self.caption, self.fold, self.kind, foot)


def facts(pairs: Sequence[Sequence[Word]], head: Sequence[str] = ("", ""), fold: str = "", title: str = "") -> Table:
    """Return a table of names and recorded values."""
    return Table(head, pairs, title=title, fold=fold, kind="facts")


@dataclass(frozen=True)
class Text:
    """A sentence after `lead`, which has the color of `kind`: good, bad, note, meta or bold."""

    text: str
    kind: str = ""
    lead: str = ""


def note(text: str, of: str = "") -> Text:
    """Return a warning about measurements."""
    return Text(text, "note", f"note{of}:")


@dataclass(frozen=True)
class Items:
    """A list; each item may have a sublist."""

    items: Sequence[tuple[Text, Sequence[str]]]
    ordered: bool = False


@dataclass(frozen=True)
class Drawing:
    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """Blocks under a title; HTML folds them if `fold` is `closed` or `open`."""

    title: str
    blocks: "Sequence[Block]" = field(default_factory=list)
    fold: str = ""


Block = Table | Text | Items | Drawing | Section


@dataclass(frozen=True)
class Page:
    title: str
    about: str
    blocks: Sequence[Block]
