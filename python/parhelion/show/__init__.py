"""What commands show: a page of blocks, made once from an analysis, written to the terminal, as HTML or as Markdown.

`results`, `report` and `compare` make blocks, `terminal` and `files` write them, `plots` draws. Nothing is computed here that a script would want.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Cell(NamedTuple):
    """A cell that is more than its text. `small` stands below or behind it; `kind` is good, bad, note, dim, slower, faster or a role;
    `sort` is what columns are sorted by."""

    text: str
    small: str = ""
    kind: str = ""
    sort: float | None = None


Word = str | Cell


def text_of(word: Word) -> str:
    return word.text if isinstance(word, Cell) else word


@dataclass(frozen=True)
class Table:
    """The first `words` columns name a row. HTML folds a table away where `fold` names it; `foot` are rows that are not sorted."""

    head: Sequence[str]
    rows: Sequence[Sequence[Word]]
    words: int = 1
    title: str = ""
    caption: str = ""
    fold: str = ""
    kind: str = ""
    foot: Sequence[Sequence[Word]] = ()

    def left(self, column: int) -> bool:
        """Whether a column holds words, which stand to the left."""
        texts = [text for row in self.rows if (text := text_of(row[column])) not in ("", "–")]
        figures = sum(text[:1].isdigit() or (text[:1] in "<±×−+" and text[1:2].isdigit()) for text in texts)
        return column == self.words - 1 or 2 * figures <= len(texts)

    def only(self, columns: Sequence[int]) -> "Table":
        """The same with these columns alone."""
        rows, foot = ([[row[column] for column in columns] for row in each] for each in (self.rows, self.foot))
        return Table([self.head[column] for column in columns], rows, self.words, self.title, self.caption, self.fold, self.kind, foot)


def facts(pairs: Sequence[Sequence[Word]], head: Sequence[str] = ("", ""), fold: str = "", title: str = "") -> Table:
    """A table of names and what was recorded of each."""
    return Table(head, pairs, title=title, fold=fold, kind="facts")


@dataclass(frozen=True)
class Text:
    """A sentence; `lead` stands before it in the color of `kind`: good, bad, note, meta or bold."""

    text: str
    kind: str = ""
    lead: str = ""


def note(text: str, of: str = "") -> Text:
    """Something to know before the figures are believed."""
    return Text(text, "note", f"note{of}:")


@dataclass(frozen=True)
class Items:
    """A list; each item may have a list of its own below it."""

    items: Sequence[tuple[Text, Sequence[str]]]
    ordered: bool = False


@dataclass(frozen=True)
class Drawing:
    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """Blocks under a title. HTML folds them away with `fold`: closed, or open."""

    title: str
    blocks: "Sequence[Block]" = field(default_factory=list)
    fold: str = ""


Block = Table | Text | Items | Drawing | Section


@dataclass(frozen=True)
class Page:
    title: str
    about: str
    blocks: Sequence[Block]
