"""Output of commands: blocks on the terminal, a JSON document for scripts."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.theme import Theme

from ..base.files import write_whole
from ..errors import InputError, why
from . import Block, Cell, Items, Section, Table, Text, Word

THEME = Theme({"note": "yellow", "good": "bold green", "bad": "bold red", "slower": "bold red", "faster": "bold green", "meta": "dim"})
PIPE_WIDTH = 170
UNLIMITED = 10_000


def console(stream: Any) -> Console:
    """Return a console; pipes and files have the width COLUMNS or `PIPE_WIDTH`, because 80 columns fold most tables."""
    known = stream.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    return Console(file=stream, width=None if known else PIPE_WIDTH, highlight=False, soft_wrap=False, theme=THEME)


def show(where: Console, blocks: Sequence[Block]) -> None:
    for block in blocks:
        if isinstance(block, Table):
            for part in parts(where, block):
                where.print(rich_table(part))
        elif isinstance(block, Text):
            where.print(_marked(block), soft_wrap=True)
        elif isinstance(block, Items):
            for number, (text, below) in enumerate(block.items, start=1):
                where.print((f"{number}. " if block.ordered else "- ") + _marked(text), soft_wrap=True)
                for each in below:
                    where.print(f"     {each}", markup=False, soft_wrap=True)
        elif isinstance(block, Section):
            where.print(f"\n[bold]{escape(block.title)}[/]", soft_wrap=True)
            show(where, block.blocks)


def _marked(text: Text) -> str:
    if text.lead:
        return _styled(text.lead, text.kind) + f" {escape(text.text)}"
    return _styled(text.text, text.kind)


def _styled(text: str, kind: str) -> str:
    return f"[{kind}]{escape(text)}[/]" if kind in (*THEME.styles, "bold", "dim") and kind else escape(text)


def rich_table(table: Table) -> RichTable:
    made = RichTable(title=escape(table.title) or None, caption=escape(table.caption) or None, title_justify="left", caption_justify="left")
    if table.kind == "tight":
        made.box, made.padding, made.pad_edge, made.show_edge = box.SIMPLE_HEAD, (0, 0, 0, 1), False, False
    for column, name in enumerate(table.head):
        made.add_column(escape(name), justify="left" if table.left(column) else "right", overflow="fold")
    for row in table.rows:
        made.add_row(*map(_word, row))
    if table.foot:
        made.add_section()
        for row in table.foot:
            made.add_row(*map(_word, row))
    return made


def _word(word: Word) -> str:
    if not isinstance(word, Cell):
        return escape(word)
    return _styled(word.text, word.kind) + (f"\n[dim]{escape(word.small)}[/]" if word.small else "")


def width(where: Console, table: Table) -> int:
    return Measurement.get(where, where.options.update(max_width=UNLIMITED), rich_table(table)).maximum


def parts(where: Console, table: Table) -> list[Table]:
    named, figures = list(range(table.words)), list(range(table.words, len(table.head)))
    if table.kind in ("facts", "tight") or len(figures) < 2 or width(where, table) <= where.width:
        return [table]
    made = []
    while figures:
        fitting = (size for size in range(len(figures), 0, -1) if size == 1 or width(where, table.only([*named, *figures[:size]])) <= where.width)
        size = next(fitting)
        made.append(table.only([*named, *figures[:size]]))
        figures = figures[size:]
    return made


class Output:
    """Output of a command; `--json -` sends the document to standard output, all blocks to standard error."""

    def __init__(self, json_file: str | None) -> None:
        self.json_file = json_file
        stream = sys.stderr if json_file == "-" else sys.stdout
        self.console = console(stream)
        self.errors = console(sys.stderr)
        self._check_writable()

    def show(self, blocks: Sequence[Block]) -> None:
        show(self.console, blocks)

    def fits(self, table: Table) -> bool:
        return width(self.console, table) <= self.console.width

    def paths(self, files: Sequence[Path]) -> None:
        for file in files:
            self.console.print(str(file), markup=False, soft_wrap=True)

    def document(self, document: dict[str, Any]) -> None:
        if self.json_file is None:
            return
        import msgspec

        text = msgspec.json.format(msgspec.json.encode(document, enc_hook=str), indent=1)
        if self.json_file == "-":
            sys.stdout.write(text.decode() + "\n")
            sys.stdout.flush()
        else:
            write_whole(self.json_file, text + b"\n")

    def _check_writable(self) -> None:
        if self.json_file in (None, "-"):
            return
        file = Path(self.json_file)
        new = not file.exists()
        try:
            file.open("ab").close()
            if new:
                file.resolve().unlink(missing_ok=True)  # a later failure leaves no empty document
        except OSError as error:
            raise InputError(f"cannot write --json {self.json_file}: {why(error, self.json_file)}") from None
