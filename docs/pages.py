"""What MkDocs asks while it builds the site: pages of interfaces as they are in the sources, of notebooks, and of files outside of docs/ that pages link to."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
INCLUDE, FORTRAN = ROOT / "include", ROOT / "fortran"
STAGES = ("core", "domain", "pattern", "plan", "transport", "exchange", "index_map", "redistribution", "placement")
C_HEADERS = ("parhelion/phl.h", "parhelion/core/options.h", "parhelion/placement/c_interface.h")
MODULES = ("parhelion", "phl_basics", "phl_cartesian", "phl_exchange", "phl_fields", "phl_index_map", "phl_migration", "phl_point_sums", "phl_redistribution")
INTERFACES = {
    "cpp": "# C++\n\n`#include <parhelion/parhelion.hpp>` has all of it, in the namespace `parhelion`.\n\n",
    "c": "# C\n\n",
    "fortran": "# Fortran\n\n`use parhelion` has all of it.\n\n",
}
OUTSIDE = re.compile(r"\]\(\.\./([\w./-]+)(#[\w-]+)?\)")
FENCES = {".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".c": "c", ".f90": "fortran", ".fypp": "fortran"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Pages show what classes have of the native module: from the stub that a build writes."""
    built = sorted((ROOT / "python/parhelion/_builds").glob("*/_core.pyi"), key=lambda path: path.stat().st_mtime)
    if not built:
        raise PluginError("the native module is documented from the stub that a build writes: run make build first")
    shutil.copy2(built[-1], ROOT / "python/parhelion")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the interfaces, the notebooks, and a page for every file that some page links to."""
    for language, head in INTERFACES.items():
        files.append(File.generated(config, f"reference/{language}.md", content=head + "\n".join(interfaces(language))))
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=notebook_page(notebook)))
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
    return f"---\nsearch:\n  exclude: true\n---\n\n# {file.relative_to(ROOT)}\n\n{fenced(text, FENCES.get(file.suffix, ''))}\n"


def fenced(text: str, language: str) -> str:
    return f"````{language}\n{text}\n````"


def interfaces(language: str) -> Iterator[str]:
    """A heading, what the first comment says, and the declarations of each public header or module."""
    if language == "fortran":
        found = [(name, *fortran_interface(FORTRAN / f"{name}.fypp")) for name in MODULES]
    else:
        cpp = [path for stage in STAGES for path in sorted((INCLUDE / "parhelion" / stage).glob("*.hpp"))]
        paths = [INCLUDE / name for name in C_HEADERS] if language == "c" else cpp
        found = [(str(path.relative_to(INCLUDE)), *header_interface(path.read_text())) for path in paths]
    for name, about, code in found:
        shown = fenced(code, f"{{.{language} .signature}}")
        yield f"## {name}\n\n{about}\n\n{shown}\n"


def header_interface(text: str) -> tuple[str, str]:
    """The first comment as prose, and the rest without what it includes and without `namespace detail`."""
    comment = re.match(r"(?://.*\n)+|/\*[\s\S]*?\*/\n", text)
    about = re.sub(r"^ *(?://|/\*+)? ?| *\*/$", "", comment[0], flags=re.MULTILINE).strip() if comment else ""
    rest = text[comment.end() if comment else 0 :]
    rest = re.sub(r"^#(?:pragma once|include .*)\n", "", rest, flags=re.MULTILINE)
    rest = re.sub(r"^namespace (?:\w+::)*detail \{\n.*?^\}.*\n", "", rest, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"([*<])", r"\\\1", about), re.sub(r"\n{3,}", "\n\n", rest).strip()


def fortran_interface(path: Path) -> tuple[str, str]:
    """The module's comment, and its types and procedures: of each the first lines, arguments, and the comment above."""
    command = [sys.executable, "-B", "-m", "fypp", "-M", path.parent, "-m", "write", path]
    written = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = re.sub(r"^  interface\n.*?^  end interface\n", "", written, flags=re.MULTILINE | re.DOTALL).splitlines()  # C's functions
    start = next(number for number, line in enumerate(lines) if line.startswith("module "))
    about = " ".join(line.removeprefix("!>").strip() for line in lines[:start] if line.startswith("!>"))
    shown, inside, head = [], False, False
    for line in lines[start:]:
        if re.match(r" *end (?:subroutine|function)", line):
            inside = False
        if re.match(r" *(?:(?:pure|elemental|recursive|impure) )*(?:subroutine|(?:[\w()=]+ )?function) ", line) and "interface" not in line:
            inside = head = True
        if not inside or head or "intent(" in line:
            shown.append(line)
        head = head and line.rstrip().endswith("&")
    return about, re.sub(r"\n{3,}", "\n\n", "\n".join(shown))


def notebook_page(file: Path) -> str:
    """An executed notebook in Markdown, cells as they are, what came out of them below; a link to itself stands below its title."""
    parts: list[str] = []
    for cell in json.loads(file.read_text())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else fenced(source, "bash" if source.startswith("%%bash") else "python"))
        parts += map(notebook_output, cell.get("outputs", ()))
    title, _, rest = parts[0].partition("\n")
    link = f"This page is an executed notebook: [{file.name}]({file.name})."
    return "\n\n".join([title, rest.strip(), link, *filter(None, parts[1:])]) + "\n"


def notebook_output(output: dict[str, Any]) -> str:
    shown = output.get("data", {})
    if "text/html" in shown:
        return "".join(shown["text/html"])
    text = "".join(output.get("text") or shown.get("text/plain") or ())
    return fenced(text.rstrip("\n"), "text") if text.strip() else ""
