"""Names that Python packages export, with their docstrings; nothing is imported."""

import ast
import re
from pathlib import Path

import griffe

from .entry import Entry, SourceFile

PACKAGES = ("parhelion", "parhelion.placement", "parhelion.launch", "parhelion.mesh")
SPECIAL = {"__init__", "__call__", "__getitem__"}


def read_packages(folder: Path) -> list[SourceFile]:
    """What each package says of itself, and all that it exports."""
    root = griffe.load("parhelion", search_paths=[str(folder)], resolve_aliases=True)
    return [_package(root, name) for name in PACKAGES]


def _package(root: griffe.Object | griffe.Alias, name: str) -> SourceFile:
    module = root[name.partition(".")[2]] if "." in name else root
    named, elsewhere = _exported(module)
    return SourceFile(name, _markdown(module), [_entry(_found(module, f"{elsewhere[each]}.{each}" if each in elsewhere else each), each) for each in named])


def _found(module: griffe.Object | griffe.Alias, name: str) -> griffe.Object | griffe.Alias:
    """What a name stands for; a file that is called like the function in it stands for that."""
    found = module[name]
    return found[name.rpartition(".")[2]] if found.is_module else found


def _exported(module: griffe.Object | griffe.Alias) -> tuple[list[str], dict[str, str]]:
    """Names in `__all__`, and the modules of those that are imported when they are used."""
    path = Path(str(module.filepath)).with_suffix(".py")  # beside a stub
    tables = {node.targets[0].id: node.value for node in ast.parse(path.read_text()).body
              if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}  # fmt: skip
    later = next((ast.literal_eval(tables[table]) for table in ("_MODULES", "_LATER") if table in tables), {})
    return ast.literal_eval(tables["__all__"]) if isinstance(tables["__all__"], ast.List) else list(later), later


def _entry(thing: griffe.Object | griffe.Alias, name: str) -> Entry:
    members: list[Entry] = []
    for key, member in thing.all_members.items() if thing.is_class else ():
        if _is_public(key, member):
            made = _entry(member, key)
            if members and not made.text and not members[-1].text and members[-1].takes(made):
                members[-1].add(made)  # values that the docstring of the class speaks of
            else:
                members.append(made)
    return Entry([name], _code(thing, name), _markdown(thing), thing.lineno or 0, [name] if thing.is_attribute else [], members)


def _is_public(name: str, member: griffe.Object | griffe.Alias) -> bool:
    return not member.is_module and (not name.startswith("_") or (name in SPECIAL and member.docstring is not None and name != "__init__"))


def _code(thing: griffe.Object | griffe.Alias, name: str) -> str:
    if thing.is_class:
        made = thing.all_members.get("__init__")
        return f"class {name}" + (_arguments(made) if made is not None and made.is_function else "")
    if thing.is_function:
        return f"def {name}{_arguments(thing)}" + (f" -> {thing.returns}" if thing.returns else "")
    return f"{name}: {thing.annotation}" if thing.annotation else name


def _arguments(function: griffe.Object | griffe.Alias) -> str:
    """Parameters as they are called: in one line, or one a line where that is long."""
    shown: list[str] = []
    for parameter in function.parameters:
        star = {"variadic positional": "*", "variadic keyword": "**"}.get(parameter.kind.value, "")
        if parameter.kind.value == "keyword-only" and "*" not in "".join(each[:1] for each in shown):
            shown.append("*")
        if parameter.name != "self":
            value = f" = {parameter.default}" if parameter.default is not None and not star else ""
            shown.append(f"{star}{parameter.name}" + (f": {parameter.annotation}" if parameter.annotation else "") + value)
    line = ", ".join(shown)
    return f"({line})" if len(line) < 90 else "(\n    " + ",\n    ".join(shown) + ",\n)"


def _markdown(thing: griffe.Object | griffe.Alias) -> str:
    """The docstring; a list of parameters, which has a name and a colon in front of each, becomes one of Markdown."""
    lines: list[str] = []
    listed = False
    for line in (thing.docstring.value if thing.docstring else "").splitlines():
        if re.fullmatch(r"-{3,}", line) and lines:
            lines[-1:] = [f"**{lines[-1]}**", ""]
            listed = True
        elif listed and (item := re.match(r"([\w, *]+): (.*)", line)) and not line.startswith(" "):
            lines.append(f"- `{item[1]}`: {item[2]}")
        elif listed and line.startswith("    "):
            lines.append(line.strip())
        else:
            listed = listed and bool(line)
            lines.append(line)
    return re.sub(r"^((?:>>>|\.\.\.).*(?:\n.+)*)", lambda found: "    " + found[0].replace("\n", "\n    "), "\n".join(lines), flags=re.MULTILINE)
