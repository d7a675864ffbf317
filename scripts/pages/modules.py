"""Names that the Fortran module `parhelion` makes public, with the comments of the modules that they come from."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import tree_sitter_fortran
from tree_sitter import Language, Node, Parser

from .entry import Entry, SourceFile, prose

PARSER = Parser(Language(tree_sitter_fortran.language()))
PROCEDURES = {"subroutine", "function"}


def read_modules(folder: Path) -> list[SourceFile]:
    """The module for users first, then those that it hands on, each with what is public in `parhelion`."""
    door = _module(folder / "parhelion.fypp")
    public = {name for node in _all(door, "public_statement") for name in _identifiers(node)}
    paths = [folder / "parhelion.fypp", *sorted(folder / f"{name}.fypp" for name in ("phl_cartesian", "phl_exchange", "phl_index_map", "phl_status"))]
    return [_source_file(path, public) for path in paths]


def _source_file(path: Path, public: set[str]) -> SourceFile:
    module = _module(path)
    procedures = {_name(node): node for node in _all(module, *PROCEDURES)}
    entries = [_type(node, procedures) for node in _all(module, "derived_type_definition") if _name(node) in public]
    entries += [_constants(node, public) for node in _all(module, "enum") if _constants(node, public).names]
    entries += [_procedure(node, name) for name, node in procedures.items() if name in public]
    return SourceFile(f"fortran/{path.name}", _above(module), entries)


def _type(node: Node, procedures: dict[str, Node]) -> Entry:
    members = [
        member
        for statement in _all(node, "procedure_statement", "generic_statement")
        for member in _bound(statement, procedures)
        if b"private" not in statement.text.split(b"::")[0] and member.names != ["c_handle"]
    ]
    name = _name(node)
    return Entry([name], f"type :: {name}", _above(node), node.start_point.row + 1, members=members)


def _bound(statement: Node, procedures: dict[str, Node]) -> Iterator[Entry]:
    """One entry per name that a type's `procedure` or `generic` statement binds."""
    _, _, bound = statement.text.decode().partition("::")
    pairs = [bound] if statement.type == "generic_statement" else bound.split(",")
    for pair in pairs:
        name, _, target = (part.strip() for part in pair.partition("=>"))
        nodes = [procedures[each.strip()] for each in (target or name).split(",")]
        texts = [text for node in [*nodes] if (text := _above(node))]
        own = _above(statement) if statement.type == "generic_statement" else ""
        yield Entry([name], "\n".join(_interface(node, name) for node in nodes), "\n\n".join(filter(None, [own, *dict.fromkeys(texts)])),
                    statement.start_point.row + 1)  # fmt: skip


def _procedure(node: Node, name: str) -> Entry:
    return Entry([name], _interface(node, name), _above(node), node.start_point.row + 1)


def _interface(node: Node, name: str) -> str:
    """First line under the name that users call it by, and declarations of its arguments and result."""
    head, *rest = (child.text.decode().strip() for child in node.named_children if child.type in {"subroutine_statement", "function_statement", "variable_declaration"})
    head = " ".join(head.replace("&", " ").split())
    arguments = re.search(r"\((.*?)\)(?=\s*(result|$))", head)
    names = {each.strip() for each in (arguments[1] if arguments else "").split(",")} | set(re.findall(r"result\((\w+)\)", head))
    shown = [line for line in rest if names & set(re.findall(r"\w+", line.split("::")[-1])) and "type(c_ptr) :: made" not in line]
    return "\n".join([re.sub(rf"\b{_name(node)}\(", f"{name}(", head, count=1), *(f"    {line}" for line in shown)]) + "\n"


def _constants(node: Node, public: set[str]) -> Entry:
    names = [name for name in re.findall(r"phl_\w+", node.text.decode()) if name in public]
    return Entry(names, node.text.decode(), _above(node), node.start_point.row + 1)


def _module(path: Path) -> Node:
    written = subprocess.run([sys.executable, "-B", "-m", "fypp", "-M", path.parent, "-m", "write", path], check=True, capture_output=True)
    root = PARSER.parse(written.stdout).root_node
    return next(child for child in root.children if child.type == "module")


def _all(node: Node, *kinds: str) -> Iterator[Node]:
    for child in node.named_children:
        if child.type in kinds:
            yield child
        elif child.type not in PROCEDURES and child.type != "derived_type_definition":
            yield from _all(child, *kinds)


def _name(node: Node) -> str:
    statement = node.named_children[0]
    return next(child.text.decode() for child in statement.named_children if child.type in {"name", "type_name"})


def _identifiers(node: Node) -> list[str]:
    return [child.text.decode() for child in node.named_children if child.type == "identifier"]


def _above(node: Node) -> str:
    """Lines of `!>` that end right above."""
    lines: list[str] = []
    row = node.start_point.row
    while node.prev_sibling and node.prev_sibling.type == "comment" and node.prev_sibling.start_point.row == row - 1:
        node = node.prev_sibling
        row = node.start_point.row
        if not node.text.startswith(b"!>"):
            break
        lines.insert(0, node.text.decode().removeprefix("!>").removeprefix(" ").rstrip())
    return prose(lines)
