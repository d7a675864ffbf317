"""What MkDocs asks while it builds the site: pages made from sources, and links to files outside of docs/."""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "scripts")]  # MkDocs loads this file alone

from mkdocs.config.defaults import MkDocsConfig  # noqa: E402
from mkdocs.structure.files import File, Files  # noqa: E402
from pages import notebooks, reference  # noqa: E402

OUTSIDE = re.compile(r"\]\(\.\./([\w./-]+)(#[\w-]+)?\)")
FENCES = {".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".c": "c", ".f90": "fortran"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference, the notebooks, and a page for every file that some page links to."""
    for name, text in reference.pages(ROOT).items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    for name, text in notebooks.pages(ROOT).items():
        files.append(File.generated(config, f"notebooks/{name}.md", content=text))
    linked = {path for page in files.documentation_pages() for path, _ in OUTSIDE.findall(page.content_string)}
    while linked:
        path = linked.pop()
        if (ROOT / path).is_file() and files.get_file_from_path(place_of(path)) is None:
            files.append(File.generated(config, place_of(path), content=page_of(ROOT / path)))
            linked |= {inner for inner, _ in re.findall(r"\]\((?!docs/|https?:)([\w./-]+)(#[\w-]+)?\)", (ROOT / path).read_text())} if path.endswith(".md") else set()
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to files outside of docs/ lead to the pages made for them."""
    depth = "../" * page.file.src_uri.count("/")
    return OUTSIDE.sub(lambda found: f"]({depth}{place_of(found[1])}{found[2] or ''})" if (ROOT / found[1]).is_file() else found[0], markdown)


def place_of(path: str) -> str:
    """Where the site has a file of the repository."""
    return f"source/{path}" if path.endswith(".md") else f"source/{path}.md"


def page_of(file: Path) -> str:
    """A page as it is, any other file as code."""
    text = file.read_text()
    if file.suffix == ".md":
        up = "../" * (place_of(str(file.relative_to(ROOT))).count("/"))
        text = re.sub(r"\]\(docs/([\w./#-]+)\)", rf"]({up}\1)", text)
        return re.sub(r"\]\((?!docs/|https?:|\.\./|#)([\w./-]+)(#[\w-]+)?\)", lambda found: f"](../{found[1]}{found[2] or ''})", text)
    return f"---\nsearch:\n  exclude: true\n---\n\n# {file.relative_to(ROOT)}\n\n````{FENCES.get(file.suffix, '')}\n{text}\n````\n"
