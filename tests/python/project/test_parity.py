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
    "C++": text_of("include/parhelion/**/*.hpp", "include/parhelion/core/options.h"),
    "Python": text_of("python/parhelion/*.pyi", "python/parhelion/_builds/*/_core.pyi", *(f"python/parhelion/{room}/*.py" for room in ("domain", "exchange", "ghosts"))),
    "C": text_of("include/parhelion/phl.h", "include/parhelion/core/options.h"),
    "Fortran": text_of("fortran/*.fypp", "include/parhelion/core/options.h"),
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


def test_every_name_is_there():
    assert wrong(PAGE.read_text()) == []


@pytest.mark.parametrize("row", ["| Something | `Exchange` | `no_such_thing` | `phl_field` | `add` |", "| Something | `Exchange` | | `phl_field` | `add` |",
                                 "| Something | `Exchange` | no: never | `add` |"])
def test_a_planted_row_that_is_wrong_is_found(row):
    assert wrong(row)


@pytest.mark.parametrize("language", ["C++", "C", "Fortran"])
def test_every_option_has_a_row(language):
    table = text_of("include/parhelion/core/options.h").split("#define PHL_EXCHANGE_OPTIONS(X)", 1)[1].split("\n\n", 1)[0]
    declared = [name.removesuffix("_s") if language == "Fortran" else name for name in re.findall(r"X\(\w+, (\w+)\)", table)]
    assert len(declared) == 9
    options = rows(PAGE.read_text().split("## Options of an exchange", 1)[1])
    told = {name for _, *cells in options for name in names(cells[LANGUAGES.index(language)])}
    assert told == set(declared)
