"""Writing of pages as self-contained HTML and as Markdown; all text is escaped, HTML loads no other resource."""

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from ..base.files import write_whole
from ..errors import writing
from ..analyze.words import pipes
from . import Block, Cell, Drawing, Items, Page, Section, Table, Text, Word, text_of

MOST_COLUMNS = 8  # of numbers; wider tables are split to fit a page of 1280 pixels


def html(page: Page) -> str:
    sections = [block.title for block in page.blocks if isinstance(block, Section)]
    links = [f'<a href="#s{number}">{escape(title)}</a>' for number, title in enumerate(sections, start=1)]
    numbers = iter(range(1, len(sections) + 1))
    made = []
    for block in page.blocks:
        if isinstance(block, Section):
            if (number := next(numbers)) == 1 and len(links) > 1:
                made.append(f"<nav>{''.join(links)}</nav>")
            made.append(f'<section class="card" id="s{number}"><h2>{escape(block.title)}</h2>{_html(block.blocks, 3)}</section>')
        else:
            made.append(_html([block], 2))
    template = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(title=escape(page.title), about=escape(page.about), body="\n".join(made))


def figure(page: Page) -> str:
    """Return the page's first drawing as SVG in the page's colors, or an empty string."""
    drawn = next((block.svg for block in page.blocks if isinstance(block, Drawing)), "")
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    colors = template[template.index(":root") : template.index("* {")]
    style = f"<style>\n{colors}svg {{ background: var(--card); font-family: system-ui, sans-serif; }}\n</style>"
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return drawn.replace("<svg ", f"<svg {spaces} ", 1).replace(">", f">{style}", 1)


def _html(blocks: Sequence[Block], level: int) -> str:
    made, drawings = [], list[str]()
    for block in [*blocks, None]:
        if isinstance(block, Drawing):
            caption = f"<figcaption>{_name(block.caption)}</figcaption>" if block.caption else ""
            drawings.append(f"<figure>{caption}{block.svg}</figure>")
            continue
        if drawings:
            made.append(f'<div class="plots">{"".join(drawings)}</div>')
            drawings = []
        if block is not None:
            made.append(_block(block, level))
    return "\n".join(made)


def _block(block: Block, level: int) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Text):
        return f'<p class="{block.kind}">{_text(block)}</p>'
    if isinstance(block, Items):
        tag = "ol" if block.ordered else "ul"
        items = (f"<li>{_text(text)}" + ("<ul>" + "".join(f"<li>{escape(each)}</li>" for each in below) + "</ul>" if below else "") + "</li>"
                 for text, below in block.items)
        return f"<{tag}>{''.join(items)}</{tag}>"
    assert isinstance(block, Section)
    inside = _html(block.blocks, level + 1)
    return _folded(block.title, inside, block.fold == "open") if block.fold else f"<h{level}>{escape(block.title)}</h{level}>\n{inside}"


def _folded(title: str, inside: str, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>\n{inside}</details>"


def _text(text: Text) -> str:
    return (f'<b class="{text.kind}">{escape(text.lead)}</b> ' if text.lead else "") + escape(text.text)


def _table(table: Table) -> str:
    count, named = len(table.head), list(range(table.words))
    if table.kind == "facts" or count - table.words <= MOST_COLUMNS:
        made = _rows(table)
    else:
        places = range(table.words, count, MOST_COLUMNS)
        made = "\n".join(_rows(table.only([*named, *range(first, min(first + MOST_COLUMNS, count))])) for first in places)
    caption = f'<p class="meta">{escape(table.caption)}</p>' if table.caption else ""
    made = caption + made
    return _folded(table.fold, made) if table.fold else made


def _rows(table: Table) -> str:
    sides = [' class="name"' if table.left(column) else "" for column in range(len(table.head))]
    title = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    head = "".join(f'<th scope="col"{side}>{_name(name)}</th>' for name, side in zip(table.head, sides, strict=True))
    body, foot = ("".join(f"<tr>{_cells(row, sides, table)}</tr>\n" for row in rows) for rows in (table.rows, table.foot))
    kind = table.kind or "sortable"
    head = f"<thead><tr>{head}</tr></thead>" if any(table.head) else ""
    return (f'<div class="wide"><table class="{kind}">{title}{head}\n<tbody>{body}</tbody>'
            + (f"<tfoot>{foot}</tfoot>" if foot else "") + "</table></div>")


def _cells(row: Sequence[Word], sides: Sequence[str], table: Table) -> str:
    return "".join(_cell(word, side, table, column) for column, (word, side) in enumerate(zip(row, sides, strict=True)))


def _cell(word: Word, side: str, table: Table, column: int) -> str:
    cell = word if isinstance(word, Cell) else Cell(word)
    tag, how = ("th", ' scope="row"') if column == table.words - 1 else ("td", "")
    classes = " ".join(filter(None, ["name" if side else "", cell.kind]))
    how += f' class="{escape(classes)}"' if classes else ""
    how += f' data-value="{cell.sort}"' if cell.sort is not None else ""
    small = f" <small>{escape(cell.small)}</small>" if cell.small else ""
    text = _name(cell.text) if column < table.words and table.kind != "facts" else escape(cell.text)
    return f"<{tag}{how}>{text}{small}</{tag}>"


def _name(name: str) -> str:
    return escape(name).replace("_", "_<wbr>")


def markdown(page: Page) -> str:
    return f"# {pipes(page.title)}\n\n" + "\n\n".join(_markdown(page.blocks, 2)) + "\n"


def _markdown(blocks: Sequence[Block], level: int) -> list[str]:
    made = []
    for block in blocks:
        if isinstance(block, Table):
            made += [f"{pipes(text)}:" for text in (block.title or block.fold,) if text]
            made.append(_piped(block))
            made += [pipes(block.caption)] if block.caption else []
        elif isinstance(block, Text):
            made.append((f"**{pipes(block.lead)}** " if block.lead else "") + pipes(block.text))
        elif isinstance(block, Items):
            mark = "1." if block.ordered else "-"
            made.append("\n".join(line for text, below in block.items
                                  for line in (f"{mark} {' '.join(_markdown([text], level))}", *(f"   - {pipes(each)}" for each in below))))
        elif isinstance(block, Section) and block.blocks and not all(isinstance(each, Drawing) for each in block.blocks):
            inside = "\n\n".join(_markdown(block.blocks, level + 1))
            folded = f"<details><summary>{pipes(block.title)}</summary>\n\n{inside}\n\n</details>"
            made.append(folded if block.fold else f"{'#' * level} {pipes(block.title)}\n\n{inside}")
    return made


def _piped(table: Table) -> str:
    rule = "|".join("---" if table.left(column) else "---:" for column in range(len(table.head)))
    rows = [" | ".join(map(_plain, row)) for row in (table.head, *table.rows, *table.foot)]
    return "\n".join([f"| {rows[0]} |", f"|{rule}|", *(f"| {row} |" for row in rows[1:])])


def _plain(word: Word) -> str:
    text = pipes(text_of(word))
    text = f"**{text}**" if isinstance(word, Cell) and word.kind in ("good", "bad") and text else text
    return f"{text} {pipes(word.small)}" if isinstance(word, Cell) and word.small else text


def write(page: Page, html_file: Path | None, markdown_file: Path | None, problem: type[Exception],
          figure_file: Path | None = None) -> list[Path]:
    """Write the files given; raises `problem`. Replaces characters that UTF-8 cannot encode."""
    writers: list[tuple[Path | None, Callable[[Page], str]]] = [(html_file, html), (markdown_file, markdown), (figure_file, figure)]
    for path, writer in writers:
        if path:
            try:
                with writing(path):
                    path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, writer(page).encode(errors="replace"))
            except OSError as error:
                raise problem(f"cannot write {path}: {error.strerror}") from None
    return [path.resolve() for path, _ in writers if path]
