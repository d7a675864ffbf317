"""Pages of the reference, one per language, and what they lack."""

from pathlib import Path

from .docstrings import read_packages
from .entry import SourceFile
from .headers import read_header
from .modules import read_modules

C_HEADERS = ("parhelion/phl.h", "parhelion/placement/c_interface.h")
STAGES = ("core", "domain", "pattern", "plan", "transport", "exchange", "index_map", "ghosts", "placement")


def pages(root: Path) -> dict[str, str]:
    """Name and text of each page."""
    return {
        "python": "# Python\n\n`import parhelion as ph`; tools are packages of their own.\n\n" + _joined(python(root), "python"),
        "cpp": "# C++\n\n`#include <parhelion/parhelion.hpp>` has all of it, in the namespace `parhelion`.\n\n" + _joined(cpp(root), "cpp"),
        "c": "# C\n\n" + _joined(c(root), "c"),
        "fortran": "# Fortran\n\n`use parhelion` has all of it.\n\n" + _joined(fortran(root), "fortran"),
    }


def python(root: Path) -> list[SourceFile]:
    return read_packages(root / "python")


def cpp(root: Path) -> list[SourceFile]:
    """The public headers, in the order of the stages."""
    include = root / "include"
    return [read_header(path, str(path.relative_to(include))) for stage in STAGES for path in sorted((include / "parhelion" / stage).glob("*.hpp"))]


def c(root: Path) -> list[SourceFile]:
    return [read_header(root / "include" / name, name) for name in C_HEADERS]


def fortran(root: Path) -> list[SourceFile]:
    return read_modules(root / "fortran")


def undocumented(root: Path) -> list[str]:
    """Public names of C++, C and Fortran that no comment says anything of. Python's are a test of the interface's own."""
    return [name for file in (*python(root), *cpp(root), *c(root), *fortran(root)) for name in file.undocumented()]


def _joined(files: list[SourceFile], language: str) -> str:
    return "\n".join(file.markdown(language) for file in files)
