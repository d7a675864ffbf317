"""One word for one thing: what commands say, against each other and against docs/vocabulary.md."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import click
import pytest

from parhelion.cli.options import Numbers
from parhelion.cli.main import root

VOCABULARY = Path(__file__).resolve().parents[3] / "docs" / "vocabulary.md"

# What was or is said elsewhere, and the word here.
FORBIDDEN = {
    r"(?<!srun )--mpi\b|--mpis\b|--flavors?\b": "--build",
    r"--transports\b|--contenders?\b": "--variants",
    r"--sizes\b": "--size",
    r"--peers?\b": "--libraries",
    r"--not-periodic\b|--periodic-along\b|--wrap\b": "--periodic",
    r"--stencil\b": "--neighbors",
    r"--cells-per-rank\b": "--extent",
    r"--draw\b|--plot\b": "--picture",
    r"--fail-on-change\b": "--fail-on",
    r"\b(an?|one|each|per|of|same|every|ten|fewer|two|this|its|each other's) starts?\b|\bstarts? (of the ranks|by start|×)|\bStarts of\b": "launch",
    r"\bghost (zone|layer)s?\b|\bhalo cells?\b": "ghost",
    r"\bneighbour": "neighbor",
    r"\bprocess(or)? count\b|\bnumber of processes\b": "ranks",
    r"\bRUNDIR\b|\brun directory\b": "run",
}


def commands(command, path=("parhelion",)):
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*path, name))


ALL = dict(commands(root))
OPTIONS = [(name, option) for name, command in ALL.items() for option in command.params if isinstance(option, click.Option)]


def help_of(name):
    return ALL[name].get_help(click.Context(ALL[name], info_name=name, terminal_width=80, max_content_width=80))


def kind(option):
    if option.is_flag:
        return "flag"
    if isinstance(option.type, (click.IntRange, Numbers)):
        return "whole numbers"
    if isinstance(option.type, click.Choice):
        return "names"
    if isinstance(option.type, click.Path):
        return "folder" if option.metavar == "FOLDER" else "path"
    return option.type.name


def meaning(option):
    """What the help says, less the default in brackets and what only this command adds behind a colon or a semicolon."""
    return re.split(r" ?[\[:;]", option.help or "")[0].rstrip(". ")


def shared():
    found = defaultdict(list)
    for name, option in OPTIONS:
        for spelling in option.opts:
            found[spelling].append((name, option))
    return {spelling: uses for spelling, uses in found.items() if len({id(ALL[name]) for name, _ in uses}) > 1}


COMB = {"--divide", "--ghost", "--vars"}  # what it calls the options that its case has


def faults(uses):
    for what in (kind, meaning, lambda option: tuple(name for name in option.opts if name not in COMB)):
        found = {what(option): name for name, option in uses}
        if len(found) > 1:
            yield found


@pytest.mark.parametrize("name", ALL)
def test_help_says_no_other_word_for_the_same_thing(name):
    text = " ".join(help_of(name).split())
    for pattern, word in FORBIDDEN.items():
        found = re.search(pattern, text)
        assert not found, f"`{name} --help` says {found[0]!r}: the word is {word}"


@pytest.mark.parametrize("name", ALL)
def test_help_fits_80_columns(name):
    assert max(map(len, help_of(name).splitlines())) <= 80


@pytest.mark.parametrize("spelling", shared())
def test_an_option_means_the_same_in_all_commands(spelling):
    assert not list(faults(shared()[spelling]))


def test_out_is_a_folder_and_file_is_a_file():
    for name, option in OPTIONS:
        if "--out" in option.opts:
            assert option.metavar == "FOLDER", name
        if "--file" in option.opts:
            assert option.metavar == "FILE" and option.type.dir_okay is False, name


def test_the_vocabulary_has_every_option_that_several_commands_have():
    table = set(re.findall(r"`(-[\w-]+)`", VOCABULARY.read_text().split("## On the command line")[1]))
    known = {spelling for _, option in OPTIONS for spelling in option.opts}
    assert not {*shared()} - table, "options of several commands that docs/vocabulary.md does not tell"
    assert not table - known, "options in docs/vocabulary.md that no command has"


def test_many_options_stand_in_panels():
    for name, command in ALL.items():
        if len(command.params) > 12:
            assert "\nOptions:" not in help_of(name), name


# Terms that were our own: the field has others.
OUR_OWN = re.compile(r"\b(flavou?rs?|contenders?|duets?(?! Benchmarking)|wisdom|postbox(es)?|parcels?|akin)\b|left behind", re.IGNORECASE)
ROOT = VOCABULARY.parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.ipynb"))]
SOURCES = sorted((ROOT / "python" / "parhelion").rglob("*.py"))


def strings(source):
    """Texts in a source, docstrings among them; names alone are code."""
    found = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return " ".join(text for text in found if not text.isidentifier())


@pytest.mark.parametrize("file", [*PAGES, *SOURCES], ids=lambda file: str(file.relative_to(ROOT)))
def test_no_page_and_no_string_has_a_term_of_our_own(file):
    text = file.read_text()
    found = OUR_OWN.search(text if file in PAGES else strings(text))
    assert not found, f"{file} says {found[0]!r}: docs/vocabulary.md has the field's term"


@pytest.mark.parametrize("text", ["the flavor built last", "a duet of runs", "buffers that were Left behind", "Contender"])
def test_a_planted_term_is_found(text):
    assert OUR_OWN.search(text) and OUR_OWN.search(strings(f'def f():\n    """{text}"""' if " " in text else f'print("{text} 1")'))


def planted(*declarations, **settings):
    return [("a", click.Option(["--out"], type=click.Path(), metavar="FOLDER", help="Folder.")), ("b", click.Option(declarations, **settings))]


@pytest.mark.parametrize(
    "uses",
    [planted("--out", type=click.Path(), metavar="FILE", help="Folder."), planted("--out", type=click.Path(), metavar="FOLDER", help="Page."),
     planted("--out", "--to", type=click.Path(), metavar="FOLDER", help="Folder."), planted("--out", is_flag=True, help="Folder.")],
)
def test_a_planted_difference_is_found(uses):
    assert list(faults(uses))
