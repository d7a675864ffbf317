"""Words for figures, tables on the terminal, and the theme of pages."""

import io

import pytest
from rich.console import Console

from parhelion.cli.options import Sizes
from parhelion.show import Page, Table
from parhelion.show.files import html
from parhelion.show.terminal import console, rich_table
from parhelion.analyze.words import percent, size_text


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (1000, "1000 B"), (1024, "1 KiB"), (1536, "1536 B"), (3 * 2**20, "3 MiB"), (2**30, "1 GiB")])
def test_sizes_are_exact_and_can_be_read_back(size, text):
    assert size_text(size) == text
    if size:
        assert Sizes().convert(text, None, None) == (size,)


def test_shares_are_percent():
    assert (percent(0.2224), percent(0.2224, 0), percent(1.0, 2)) == ("22.2 %", "22 %", "100.00 %")


def test_headings_in_brackets_are_no_markup():
    shown = Console(width=100, file=io.StringIO())
    shown.print(rich_table(Table(["name [unit]", "time [s]"], [], title="a [title]")))
    text = shown.file.getvalue()
    assert "a [title]" in text and "name [unit]" in text and "time [s]" in text


def test_marks_of_the_theme_are_not_shown_as_text():
    shown = console(io.StringIO())
    shown.print("[bad]FAILED[/] [note]note:[/] [good]1.0[/]")
    assert shown.file.getvalue() == "FAILED note: 1.0\n"


def test_a_page_holds_the_theme_for_light_and_dark():
    text = html(Page("a title", "", []))
    assert "prefers-color-scheme: dark" in text and "--own: #" in text
