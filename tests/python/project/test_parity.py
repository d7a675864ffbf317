"""The table of languages and features names what there is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "parity.md"
LANGUAGES = ("C++", "Python", "C", "Fortran")


def text_of(*patterns: str) -> str:
    return "\n".join(path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern)))


INTERFACES = {
    "C++": text_of("include/parhelion/**/*.hpp"),
    "Python": text_of("python/parhelion/*.pyi", *(f"python/parhelion/{room}/*.py" for room in ("domain", "exchange", "ghosts"))),
    "C": text_of("include/parhelion/phl.h"),
    "Fortran": text_of("fortran/*.fypp"),
}


def rows(page: str) -> list[list[str]]:
    """Cells of each feature's row, the feature first."""
    lines = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| Feature ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def wrong(page: str) -> list[str]:
    found = []
    for feature, *cells in rows(page):
        if len(cells) != len(LANGUAGES):
            found.append(f"{feature}: {len(cells)} languages")
        for language, cell in zip(LANGUAGES, cells, strict=False):
            if not cell.startswith("no: ") and not names(cell):
                found.append(f"{feature}: {language} has neither a name nor a reason")
            found += [f"{feature}: {language} has no {name}" for name in names(cell) if not re.search(rf"\b{re.escape(name)}\b", INTERFACES[language])]
    return found


def members(language: str, start: str, end: str) -> list[str]:
    """Names of what a struct of options declares."""
    body = INTERFACES[language].split(start, 1)[1].split(end, 1)[0]
    code = re.sub(r"/\*.*?\*/|//[^\n]*|(?m:^ *!>[^\n]*$)", "", body, flags=re.S)
    if language == "Fortran":
        return re.findall(r"(\w+) = ", code)
    return re.findall(r"(\w+)(?: = [^;]*)?;", code)


def test_every_name_is_there():
    assert wrong(PAGE.read_text()) == []


@pytest.mark.parametrize("row", ["| Something | `Exchange` | `no_such_thing` | `phl_field` | `add` |", "| Something | `Exchange` | | `phl_field` | `add` |",
                                 "| Something | `Exchange` | no: never | `add` |"])  # fmt: skip
def test_a_planted_row_that_is_wrong_is_found(row):
    assert wrong(row)


@pytest.mark.parametrize(
    ("language", "start", "end", "count"),
    [
        ("C++", "struct ExchangeOptions {", "\n};", 9),
        ("C", "typedef struct phl_exchange_options {", "} phl_exchange_options;", 9),
        ("Fortran", "  type :: exchange_options", "  end type", 9),
    ],
)
def test_every_option_has_a_row(language, start, end, count):
    declared = members(language, start, end)
    assert len(declared) == count
    options = rows(PAGE.read_text().split("## Options of an exchange", 1)[1])
    told = {name for _, *cells in options for name in names(cells[LANGUAGES.index(language)])}
    assert told == set(declared)
