"""Names that headers in C and C++ declare for their users, and those of them that no comment says anything of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser


PARSER = Parser(Language(tree_sitter_cpp.language()))
CLASSES = {"class_specifier", "struct_specifier", "enum_specifier", "union_specifier"}
FUNCTIONS = {"function_definition", "template_declaration"}
DECLARATIONS = {"declaration", "field_declaration", "alias_declaration", "type_definition", "concept_definition", "preproc_def",
                "preproc_function_def", *FUNCTIONS, *CLASSES}
CONTAINERS = {"declaration_list", "linkage_specification", "preproc_if", "preproc_ifdef", "preproc_else", "namespace_definition"}
NAMES = {"identifier", "field_identifier", "type_identifier", "operator_name", "operator_cast", "qualified_identifier", "destructor_name"}
NOT_FOR_USERS = re.compile(
    r"^friend |"
    r"= (default|delete);?$|"
    r"^(class|struct) \w+;?$|"  # declared ahead
    r"^~|"
    r"^(\w+)\((const )?\3&&?( \w+)?\)|"  # copies and moves
    r"\boperator=\(|"
    r"^#define \w+$"
)


@dataclass
class Entry:
    """Declarations without a blank line or a comment between them, and whether there is a comment above or beside."""

    names: list[str]
    told: bool
    line: int
    plain: list[str]  # values, constructors, questions without arguments: the comment of the class may cover them
    members: list[Entry] = field(default_factory=list)

    def undocumented(self) -> list[str]:
        inner = [(name, member.plain) for member in self.members for name in member.undocumented()]
        return [*([] if self.told else self.names), *(f"{self.names[0]}::{name}" for name, plain in inner if not (self.told and name in plain))]


def declarations(path: Path) -> list[Entry]:
    """All that a header declares outside of `namespace detail`."""
    root = PARSER.parse(path.read_bytes()).root_node
    return list(_entries(root, skip=len(_first_comment(root))))


def undocumented(path: Path) -> list[str]:
    """Public names of a header that no comment says anything of."""
    return [f"{path}:{entry.line} {name}" for entry in declarations(path) for name in entry.undocumented()]


def _first_comment(root: Node) -> list[Node]:
    found: list[Node] = []
    for child in root.children:
        if child.type != "comment" or (found and child.start_point.row != found[-1].end_point.row + 1):
            break
        found.append(child)
    return found


def _flat(node: Node) -> Iterator[Node]:
    """Children, with those of namespaces, conditionals and `extern "C"` in their place."""
    for child in node.children:
        if child.type not in CONTAINERS:
            yield child
        elif child.type != "namespace_definition" or b"detail" not in (child.child_by_field_name("name") or child).text:
            yield from _flat(child)


def _entries(node: Node, skip: int = 0, public: bool = True, within: str = "") -> Iterator[Entry]:
    above: list[Node] = []  # comments that the next declaration may belong to
    entry: Entry | None = None
    end = -2
    for child in list(_flat(node))[skip:]:
        row = child.start_point.row
        if child.type == "access_specifier":
            public, entry = child.text == b"public", None
        elif child.type == "comment" and row == end:
            if entry:
                entry.told = True
        elif child.type == "comment":
            above = [*above, child] if above and row == above[-1].end_point.row + 1 else [child]
            entry = None
        elif child.type in DECLARATIONS and public and _is_for_users(child):
            made = _entry(child, above if above and row == above[-1].end_point.row + 1 else [], within)
            if entry and row == end + 1 and not (made.told or made.members or entry.members):
                entry.names += made.names
                entry.plain += made.plain
            else:
                yield (entry := made)
            end, above = child.end_point.row, []
        elif child.is_named:
            above, entry = [], None


def _entry(node: Node, above: list[Node], within: str) -> Entry:
    names = _names(node)
    head = _head(node)
    is_plain = "(" not in head or "()" in head or names[0] == within or names[0].isupper()  # a macro's fields, told where it is defined
    return Entry(names, bool(above), node.start_point.row + 1, list(names) if is_plain else [], _members(node))


def _is_for_users(node: Node) -> bool:
    names = _names(node)
    return bool(names) and "::" not in names[0] and not NOT_FOR_USERS.search(" ".join(node.text.decode().split()))


def _class_of(node: Node) -> Node | None:
    """The class that a declaration defines, maybe behind `template` or `typedef`."""
    if node.type in CLASSES:
        return node if node.child_by_field_name("body") else None
    return next((found for child in node.children if (found := _class_of(child)) or child.type in CLASSES), None) if node.type in DECLARATIONS else None


def _members(node: Node) -> list[Entry]:
    made = _class_of(node)
    if made is None or made.type == "enum_specifier":
        return []
    return list(_entries(made.child_by_field_name("body"), public=made.type != "class_specifier", within=_name(made.child_by_field_name("name"))))


def _names(node: Node) -> list[str]:
    if node.type == "template_declaration":
        return _names(node.named_children[-1])
    made, declared = _class_of(node), node.children_by_field_name("declarator")
    if made is not None and not declared:
        return [_name(made.child_by_field_name("name")) or "unnamed"]
    found = [_name(each) for each in declared] or [_name(node.child_by_field_name("name"))]
    return [name for name in found if name]


def _name(node: Node | None) -> str:
    """The name in a declarator, which may stand in pointers, arrays, functions and initial values."""
    if node is None:
        return ""
    if node.type in NAMES:
        return " ".join(node.text.decode().split()) if node.type == "operator_name" else node.text.decode().split("(")[0].strip()
    inner = node.child_by_field_name("declarator")
    return _name(inner or next((child for child in node.named_children if child.type in NAMES or "declarator" in child.type), None))


def _head(node: Node) -> str:
    """The declaration without a function's body or a class's members."""
    made = _class_of(node)
    definition = node.named_children[-1] if node.type == "template_declaration" else node
    body = (made or definition).child_by_field_name("body")
    if body is None or (made and made.type == "enum_specifier"):
        return node.text.decode()
    head = node.text[: body.start_byte - node.start_byte].decode()
    initial = None if made else re.search(r"\)\s*(noexcept\s*)?:\s", head)  # values of a constructor
    return head[: initial.start() + 1] if initial else head
