"""Each room of the Python package uses only rooms before it, and no files use each other in a circle."""

import ast
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "parhelion"
LIBRARY = ("errors", "launch", "native", "_core", "base", "domain", "exchange", "ghosts", "", "placement")
TOOLS = ("cli", "statistics", "records", "machine", "measuring", "documents", "comparing", "runs", "partitioning", "profiling", "running", "placing")
ROOMS = (
    *LIBRARY,
    "studies.published",
    "tools.config",
    "tools.style",
    "show",
    *(f"tools.{room}" for room in TOOLS),
    "show.plots",
    "show.results",
    "show.report",
    "tools.bench",
    "tools.images",
    "show.compare",
    "cli",
    "studies.model",
    "studies.simulation",
    "tools.main",
    "__main__",
)
DOORS = ("tools", "studies")  # hold rooms and a sentence, no code
# A rank that imports the library needs nothing else; whatever more it can use is imported where it is used.
OF_THE_LIBRARY = {"numpy", "mpi4py"}
# A class that makes its own kinds names them for type checkers; nothing is imported when it runs.
FOR_TYPES_ONLY = {("ghosts.array", "ghosts.padded"), ("ghosts.array", "ghosts.ragged")}
DEEPEST, MOST_FILES_WITHOUT_A_DOOR = 4, 5


def modules(package: Path) -> dict[str, Path]:
    """Every file of the package by its name within it; the package itself is ''."""
    parts = {path: path.relative_to(package).with_suffix("").parts for path in sorted(package.rglob("*.py")) if "_flavors" not in path.parts}
    return {".".join(names[:-1] if names[-1] == "__init__" else names): path for path, names in parts.items()}


class Arrows(ast.NodeVisitor):
    """What a file imports anywhere, and what it imports outside functions; a module named in a string counts, such as a command's."""

    def __init__(self, name: str, path: Path, known: dict[str, Path]) -> None:
        self.known, self.depth = known, 0
        self.package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        self.package = [part for part in self.package if part]
        self.inner: set[str] = set()
        self.foreign: set[str] = set()  # at module level
        self.name = name
        self.visit(ast.parse(path.read_text(encoding="utf-8")))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    def visit_If(self, node: ast.If) -> None:
        types_only = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        self.depth += types_only
        self.generic_visit(node)
        self.depth -= types_only

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module.split(".") if node.module else []
        if node.level:
            base = ["parhelion", *self.package[: len(self.package) - node.level + 1], *base]
        for alias in node.names:
            inner = ".".join([*base[1:], alias.name])
            is_module = base[0] == "parhelion" and inner in self.known and not self._defines(".".join(base[1:]), alias.name)
            self._add(".".join([*base, alias.name] if is_module else base))

    def visit_Constant(self, node: ast.Constant) -> None:
        named = node.value.removeprefix("parhelion.") if isinstance(node.value, str) and node.value.startswith("parhelion.") else None
        if named in self.known and not f"{self.name}.".startswith(f"{named}."):  # its own folder: where templates lie
            self._add(f"parhelion.{named}")

    def _defines(self, package: str, name: str) -> bool:
        """Whether a package has a value of that name, though a file is named so too."""
        body = ast.parse(self.known[package].read_text(encoding="utf-8")).body
        return any(alias.name == name and node.module for node in body if isinstance(node, ast.ImportFrom) for alias in node.names)

    def _add(self, name: str) -> None:
        top, _, inner = name.partition(".")
        if top == "parhelion":
            self.inner |= {inner} - {self.name}
        elif self.depth == 0:
            self.foreign.add(top)


def arrows(package: Path) -> dict[str, Arrows]:
    known = modules(package)
    return {name: Arrows(name, path, known) for name, path in known.items()}


def room_of(name: str) -> str:
    """The longest name in the table that this file's begins with."""
    fitting = [room for room in ROOMS if room and (name == room or name.startswith(f"{room}."))]
    return max(fitting, key=len, default="")


def against_the_order(found: dict[str, Arrows]) -> list[str]:
    return [
        f"{name} → {target}"
        for name, file in found.items()
        for target in file.inner
        if name not in DOORS and ROOMS.index(room_of(target)) > ROOMS.index(room_of(name))
    ]


def circle(found: dict[str, Arrows]) -> list[str]:
    """One circle of files, if there is any. A package's door may gather what its own files have."""
    graph = {name: {target for target in file.inner if (name, target) not in FOR_TYPES_ONLY} for name, file in found.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


FOUND = arrows(PACKAGE)


def test_every_file_is_in_a_room():
    homeless = [name for name in FOUND if name and name not in DOORS and not room_of(name)]
    assert homeless == [], "add the room to ROOMS, where it stands in the order"
    assert [room for room in ROOMS if room not in FOUND] == []


def test_rooms_use_only_those_before_them():
    assert against_the_order(FOUND) == []


def test_no_files_use_each_other_in_a_circle():
    assert circle(FOUND) == []


def test_the_library_needs_numpy_and_mpi4py_alone():
    allowed = OF_THE_LIBRARY | set(sys.stdlib_module_names)
    assert {name: file.foreign - allowed for name, file in FOUND.items() if room_of(name) in LIBRARY and file.foreign - allowed} == {}


def test_nothing_lies_deeper_than_a_command_of_a_room():
    assert [name for name in FOUND if name.count(".") >= DEEPEST] == []


def test_a_room_with_many_files_says_what_belongs_in_it():
    doors = [path for path in PACKAGE.rglob("__init__.py") if len(list(path.parent.glob("*.py"))) > MOST_FILES_WITHOUT_A_DOOR]
    assert doors
    assert [str(door) for door in doors if len((ast.get_docstring(ast.parse(door.read_text())) or "").split(".")) < 3] == []


@pytest.fixture
def planted(tmp_path):
    """A small package with the same rooms; files can be written into it."""

    def write(**files: str) -> dict[str, Arrows]:
        for room in ("", *ROOMS, *DOORS):
            folder = tmp_path.joinpath(*room.split("."))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "__init__.py").touch()
        for name, text in files.items():
            (tmp_path / f"{name.replace('__', '/')}.py").write_text(text)
        return arrows(tmp_path)

    return write


@pytest.mark.parametrize("text", [
    "from ..tools.cli import options",
    "def late():\n    from ..tools.cli.options import Names",
    "import parhelion.tools.cli.options",
    'COMMANDS = {"x": ("parhelion.tools.cli.options", "x", "help")}',
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..tools.cli.options import Names",
])  # fmt: skip
def test_a_planted_arrow_against_the_order_is_found(planted, text):
    assert against_the_order(planted(ghosts__planted=text, tools__cli__options="Names = 1")) != []


def test_a_planted_circle_is_found(planted):
    assert circle(planted(ghosts__a="from .b import x", ghosts__b="def later():\n    from .a import y")) != []


def test_a_planted_package_is_found(planted):
    assert planted(ghosts__a="import h5py")["ghosts.a"].foreign == {"h5py"}
    assert planted(ghosts__a="def late():\n    import h5py")["ghosts.a"].foreign == set()
