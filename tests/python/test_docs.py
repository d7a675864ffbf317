"""Pages lead somewhere: links among them, and every page from the index."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def links(page: Path) -> set[Path]:
    """Files that a page links to."""
    targets = LINK.findall(page.read_text())
    return {(page.parent / target).resolve() for target in targets if "://" not in target}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_to_files_that_exist(page):
    assert [target for target in links(page) if not target.exists()] == []


def test_the_index_leads_to_every_page():
    assert set(PAGES) - links(ROOT / "docs" / "index.md") == {ROOT / "docs" / "index.md"}


def test_pages_named_in_sources_exist():
    sources = [file for folder in ("include", "src", "c", "bench", "python") for file in (ROOT / folder).rglob("*.[chp]*")]
    named = {name for file in sources if file.suffix in {".hpp", ".cpp", ".h", ".py"}
             for name in re.findall(r"docs/[\w.-]+\.(?:md|json)", file.read_text())}
    assert named and [name for name in named if not (ROOT / name).exists()] == []
