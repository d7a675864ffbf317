"""Writes what the procedures of the Fortran interface repeat. fypp loads it for the *.fypp files.

Enumerations, structures and the interfaces of C functions are read from phl.h and from the glue, element types, reductions and options from the
tables in core/.
"""

import re
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADERS = HERE.parent / "include" / "parhelion"
SOURCES = [HEADERS / "phl.h", HEADERS / "core" / "kinds.h", HEADERS / "core" / "options.h", *sorted(HERE.glob("glue_*.cpp"))]
C = "\n".join(re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S) for path in SOURCES)

EIGHT = "a, b, c, d, e, f, g, h"
STATUS = ["integer, intent(out), optional :: stat", "character(*), intent(inout), optional :: errmsg"]
NUMBERS = {"int": "integer(c_int)", "int32_t": "integer(c_int32_t)", "phl_seam": "integer(c_int32_t)", "int64_t": "integer(c_int64_t)", "double": "real(c_double)", "char": "character(kind=c_char)"}
# Of a kind of option: its type in C, in Fortran, and how the one becomes the other.
OPTIONS = {
    "TEXT": ("const char*", "character(phl_name_length)", "''", "c_text({}, name)"),
    "SECONDS": ("double", "real(real64)", "0", "{}"),
    "COUNT": ("int32_t", "integer", "0", "int({}, c_int32_t)"),
    "FLAG": ("int32_t", "logical", ".false.", "flag({})"),
}
STRUCTURES = {"FortranArray": "phl_array", "FortranGroup": "phl_field_group"}

# Of an argument: its declaration, and what is passed to C. `?` behind a kind: optional.
KINDS = {
    "array": ("type(*), dimension(..), intent(inout)", "{}"),
    "given": ("type(*), dimension(..), intent(in)", "{}"),
    "cells": ("type(*), dimension(..), intent(in), optional", "{}"),
    "kept": ("type(*), dimension(..), target", "{}"),
    "list": ("type(*), intent(in), dimension(:)", "{}"),
    "integers": ("integer, intent(in), dimension(:)", "{}"),
    "out": ("integer, intent(out), dimension(:)", "{}"),
    "number": ("integer, intent(in), optional", "{}"),
    "integer": ("integer, intent(in)", "int({}, c_int)"),
    "numbers": ("integer, intent(in), optional, dimension(:)", "{}"),
    "flags": ("logical, intent(in), optional, dimension(:)", "{}"),
    "whole": ("class(halo_exchange), intent(in)", "{}%handle"),
    "flag": ("logical, intent(in), optional", "flag({})"),
    "unless": ("logical, intent(in), optional", "flag({}, .true.)"),
    "comm": ("type(*), intent(in)", "{}"),
    "path": ("character(*), intent(in)", "trim({}) // c_null_char"),
    "map": ("class(index_map), intent(in)", "{}%c_handle()"),
    "domain": ("class(cartesian_domain), intent(in)", "{}%c_handle()"),
    "fields": ("type(field_list), intent(in), optional", "count_of({0}), place_of({0})"),
    "stream": ("type(c_ptr), intent(in), optional", "address_of({})"),
    "group": ("type(field_group), intent(in)", "[native({})]"),
    "options": ("type(exchange_options), intent(in), optional", "c_options({}, name)"),
}
this: dict[str, str] = {}  # the type whose procedures are written, and its name in C


def _text(lines, indent=2):
    return "\n".join(" " * indent + line for line in lines)


def status():
    return _text(STATUS, 4)


def bind(name, arrays=""):
    """The interface of a C function. Constant numbers are arrays; `arrays` names those of its results that are, with `?` where one may be left out."""
    return _text(_interface(name, arrays.split()))


def _interface(name, arrays=()):
    returned, parameters = re.search(rf"(\w+\*?) {name}\(([^()]*)\)\s*[;{{]", C).groups()
    declared = [_c_argument(each.replace("*", " * ").split(), arrays) for each in parameters.split(",") if each not in ("", "void")]
    kind = {"void": "subroutine", "int": "integer(c_int) function"}.get(returned, "type(c_ptr) function")
    names = ", ".join(each.split(":: ")[1].removesuffix("(*)") for each in declared)
    return ["interface", f"  {kind} {name}({names}) bind(c)", "    import", *(f"    {each}" for each in declared), f"  end {kind.split()[-1]}", "end interface"]


def _c_argument(words, arrays):
    name, kind, pointers = words[-1], next(word for word in words if word != "const"), words.count("*")
    intent = "in" if "const" in words else "inout"
    if kind == "Array":
        return f"type(*), dimension(..), optional :: {name}"
    if name == "comm":
        return "type(*), intent(in) :: comm"
    if kind in NUMBERS and pointers < 2:
        if not pointers:
            return f"{NUMBERS[kind]}, value :: {name}"
        several = intent == "in" or name in arrays or f"{name}?" in arrays
        return f"{NUMBERS[kind]}, intent({intent}){', optional' if f'{name}?' in arrays else ''} :: {name}{'(*)' if several else ''}"
    if pointers == 1 and (kind.endswith(("options", "ghost", "Group")) or (kind in STRUCTURES and intent == "inout")):
        return f"type({STRUCTURES.get(kind, kind)}), intent({intent}) :: {name}{'(*)' if kind.endswith(('ghost', 'Group')) else ''}"
    by_address = pointers == 2 or (pointers == 1 and intent == "inout" and kind != "void")
    return f"type(c_ptr), {'intent(inout)' if by_address else 'value'} :: {name}"


def names(name):
    """Of an enumeration, with the values that C gives them."""
    listed = re.search(rf"enum {name} \{{(.*?)\}}", C, flags=re.S)[1]
    for table in re.findall(r"(\w+)\(PHL_NAME\)", listed):
        rows = re.search(rf"#define {table}\(X\)(.*?)\n\n", C, flags=re.S)[1]
        listed = listed.replace(f"{table}(PHL_NAME)", ",".join(f"PHL_{each}" for each in re.findall(r"X\(\w+, (\w+)", rows)))
    return [each.strip().lower() for each in listed.split(",") if each.strip()]


def public(name):
    return f"  public :: {', '.join(each.split(' ')[0] for each in names(name))}"


def enumeration(name):
    """As C has it."""
    return _text(["enum, bind(c)", *(f"  enumerator :: {each}" for each in names(name)), "end enum"]) + "\n" + public(name)


def options():
    """What each says, its kind and its name in C."""
    table = (HEADERS / "core" / "options.h").read_text().split("#define PHL_EXCHANGE_OPTIONS(X)", 1)[1]
    rows = re.findall(r"/\*(.*?)\*/\s*\\\s*X\((\w+), (\w+)\)", table, flags=re.S)
    return [(re.sub(r"\s*\\\s*\*\s*", " ", text).strip(), kind, name) for text, kind, name in rows]


def option_members():
    """Of the type in Fortran, where times have no `_s`."""
    lines = []
    for text, kind, name in options():
        _, declared, none, _ = OPTIONS[kind]
        lines += [*(f"!> {line}" for line in textwrap.wrap(text, 120)), f"{declared} :: {name.removesuffix('_s')} = {none}"]
    return _text(lines, 4)


def option_copies():
    """From `options`, which Fortran has, to `all`, which C reads."""
    return _text([f"all%{name} = {OPTIONS[kind][3].format('options%' + name.removesuffix('_s'))}" for _, kind, name in options()], 4)


def structure(name):
    """As C has it, all zero."""
    lines = [f"type, bind(c) :: {name}"]
    body = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", C, flags=re.S)[1]
    members = body.replace("PHL_EXCHANGE_OPTIONS(PHL_C_OPTION)", " ".join(f"{OPTIONS[kind][0]} {each};" for _, kind, each in options()))
    for member in members.split(";")[:-1]:
        kind, names = re.fullmatch(r"\s*(?:const )?(\w+\*?)\s+(.*?)\s*", member, flags=re.S).groups()
        declared, zero = ("type(c_ptr)", "c_null_ptr") if "*" in kind else (NUMBERS[kind], "c_null_char" if kind == "char" else "0")
        shaped = re.sub(r"\[(\w+)\]", r"(\1)", names).replace("PHL_MAX_DIMENSIONS", "4")
        lines += [f"  {declared} :: {each.strip()} = {zero}" for each in shaped.split(",")]
    return _text([*lines, "end type"])


def of(type, c_type):
    """The type whose procedures follow, and its name in C."""
    this.update(type=type, c_type=c_type)
    return bind(f"{c_type}_free")


def _arguments(listed):
    """Names and kinds of `a: kind, …`, of which `eight: kind` are a to h."""
    for name, kind in (each.strip().split(": ") for each in listed.split(",") if each.strip()):
        yield from ((each, kind) for each in EIGHT.split(", ")) if name == "eight" else [(name, kind)]


def _head(spec, intent, type=""):
    """Of the subroutine `name(argument: kind, …)`, those behind `/` after stat and errmsg: its name, its arguments, kinds, and declarations."""
    name, listed = re.fullmatch(r"(\w+)\((.*)\)", spec).groups()
    first, last = (dict(_arguments(part)) for part in f"{listed}/".split("/")[:2])
    kinds = first | last
    declared = [f"{KINDS[kind.rstrip('?')][0]}{', optional' if kind.endswith('?') else ''} :: {each}" for each, kind in kinds.items()]
    lines = [f"class({type or this['type']}), intent({intent}) :: this", *declared, *STATUS]
    return name, ", ".join(["this", *first, "stat", "errmsg", *last]), kinds, lines


def head(spec, type=""):
    """The beginning of a subroutine that is written by hand, of this type or another."""
    name, arguments, _, lines = _head(spec, "inout", type)
    return _text([f"subroutine {name}({arguments})", *(f"  {line}" for line in lines)])


def _procedure(spec, call, intent, before, after):
    """The same, and the call of C between two lists of arguments."""
    name, arguments, kinds, lines = _head(spec, intent)
    function, _, passed = (call or f"phl_f_{name}").rstrip(")").partition("(")
    passed = passed if "(" in call else ", ".join(kinds)
    values = [KINDS[kinds[each].rstrip("?")][1].format(each) if each in kinds else each for each in passed.replace("eight", EIGHT).split(", ") if each]
    return name, arguments, [*lines, *_interface(function)], f"{function}({', '.join([*before, *values, *after])})"


def _subroutine(name, arguments, lines):
    return _text([f"subroutine {name}({arguments})", *(f"  {line}" for line in lines), "end subroutine"])


def method(spec, call="", changes=False):
    """Calls C with the handle, and tells the status. `call`: function(arguments), those of `spec` by default; the function is by default phl_f_<name>."""
    name, arguments, lines, called = _procedure(spec, call, "inout" if changes else "in", ["this%handle"], [])
    return _subroutine(name, arguments, [*lines, f"call finish({called}, stat, errmsg)"])


def map_call(spec, call, reduction="phl_replace"):
    """A method that calls phl_f_map_call; a `reduction` among its arguments replaces this one."""
    arrays = "x" if "x: " in spec else "eight"
    ghosts = ", ghosts=ghosts" if "ghosts: " in spec else ""
    return method(spec, f"phl_f_map_call({call}, {_reduction(spec, reduction)}, {arrays}{ghosts})")


def exchange_call(spec, call):
    """A method that calls phl_f_exchange_call."""
    stream = "stream" if "stream: " in spec else "c_null_ptr"
    return method(spec, f"phl_f_exchange_call({call}, {_reduction(spec, '0_c_int')}, eight, fields, {stream})")


def _reduction(spec, otherwise):
    return "reduction" if "reduction: " in spec else otherwise


def maker(spec, call, then=""):
    """A new handle takes the place of the old one, unless C fails; `then` is done where it has not."""
    name, arguments, lines, called = _procedure(spec, call, "inout", [], ["made"])
    room = ["character(kind=c_char), target :: name(phl_name_length + 1)"] if "options: options" in spec else []
    replaced = ["type(c_ptr) :: made", "made = c_null_ptr", f"call replace(this%handle, {this['c_type']}_free, {called}, made, stat, errmsg)"]
    return _subroutine(name, arguments, [*lines, *room, *replaced, *([f"if (c_associated(made)) {then}"] if then else [])])


def ends():
    """`free`, under the comment above it, the finalizer, and the handle for other modules."""
    a_type, free = this["type"], f"{this['c_type']}_free(this%handle)"
    return "\n".join([
        _subroutine("free", "this, stat, errmsg", [f"class({a_type}), intent(inout) :: this", *STATUS, f"call finish({free}, stat, errmsg)"]),
        "\n  impure elemental" + _subroutine("finalize", "this", [f"type({a_type}), intent(inout) :: this", "integer(c_int) :: ignored",
                                                                 f"if (c_associated(this%handle)) ignored = {free}"])[1:],
        "\n  type(c_ptr) function c_handle(this)", f"    class({a_type}), intent(in) :: this", "    c_handle = this%handle", "  end function",
    ])
