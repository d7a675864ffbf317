"""Writes what the procedures of the Fortran interface repeat. fypp loads it for the *.fypp files.

Enumerations, structures and the interfaces of C functions are read from phl.h and from the glue, element types, reductions and options from the
tables in core/.
"""

import re
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADERS = HERE.parent / "include" / "parhelion"
SOURCES = [HEADERS / "phl.h", HEADERS / "core" / "kinds.h", HEADERS / "core" / "options.h", HERE.parent / "c" / "objects.hpp", *sorted(HERE.glob("glue_*.cpp"))]
EIGHT = "a, b, c, d, e, f, g, h"
C = "\n".join(re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S) for path in SOURCES)
C = C.replace("PHL_EIGHT", "Array " + EIGHT.replace(" ", " Array ")).replace("const phl_exchange_options*", "Options")

STATUS = ["integer, intent(out), optional :: stat", "character(*), intent(inout), optional :: errmsg"]
NUMBERS = {"int": "integer(c_int)", "int32_t": "integer(c_int32_t)", "phl_seam": "integer(c_int32_t)", "int64_t": "integer(c_int64_t)",
           "double": "real(c_double)", "char": "character(kind=c_char)"}
# Of arguments of other types in C.
OTHERS = {
    "Array": "type(*), dimension(..), optional",
    "Combine": "type(c_funptr), value",
    "Fields": "type(phl_list), intent(in)",
    "Options": "type(phl_exchange_options), intent(in)",
}
# Of a kind of option: its type in C, in Fortran, and how the one becomes the other.
OPTIONS = {
    "TEXT": ("char*", "character(phl_name_length)", "''", "c_text({}, name)"),
    "SECONDS": ("double", "real(real64)", "0", "{}"),
    "COUNT": ("int32_t", "integer", "0", "int({}, c_int32_t)"),
    "FLAG": ("int32_t", "logical", ".false.", "merge(1, 0, {})"),
}
# Of an argument: its declaration, and what C gets, where it is not the argument itself. `?` behind a kind: optional.
KINDS = {
    "array": ("type(*), dimension(..), intent(inout)",),
    "given": ("type(*), dimension(..), intent(in)",),
    "kept": ("type(*), dimension(..), target",),
    "list": ("type(*), intent(in), dimension(:)",),
    "integer": ("integer, intent(in)",),
    "integers": ("integer, intent(in), dimension(:)",),
    "result": ("integer, intent(out)",),
    "results": ("integer, intent(out), dimension(:)",),
    "number": ("integer, intent(inout)",),
    "flag": ("logical, intent(in), optional",),
    "flags": ("logical, intent(in), optional, dimension(:)",),
    "bytes": ("integer(int64), intent(in)",),
    "counts": ("integer(int64), intent(out), dimension(:)",),
    "stale": ("type(stale_ghost), intent(out), allocatable, dimension(:)",),
    "address": ("type(c_ptr), intent(in)",),
    "made": ("type(c_ptr), intent(out)",),
    "function": ("type(c_funptr), intent(in)",),
    "comm": ("type(*), intent(in)",),
    "path": ("character(*), intent(in)", "trim({}) // c_null_char"),
    "whole": ("class(halo_exchange), intent(in)", "{}%handle"),
    "map": ("class(index_map), intent(in)", "{}%c_handle()"),
    "domain": ("class(cartesian_domain), intent(in)", "{}%c_handle()"),
    "fields": ("type(field_list), intent(in), optional", "list_of({})"),
    "group": ("type(field_group), intent(in)", "native({})"),
    "groups": ("type(field_group), intent(in), dimension(:)", "native({})"),
    "options": ("type(exchange_options), intent(in), optional", "c_options({}, name)"),
}
this: dict[str, str] = {}  # the type whose procedures are written, and its name in C


def _text(lines, indent=2):
    return "\n".join(" " * indent + line for line in lines)


def status():
    return _text(STATUS, 4)


def interfaces():
    """Of the C functions whose arguments Fortran can pass. Numbers by address are arrays, and may be left out."""
    lines = []
    for returned, name, listed in re.findall(r"\b(void|int|char\*) (phl_\w+)\(([^()]*)\)\s*[;{]", C):
        if re.search(r"MPI_Comm|phl_(element|cells|combine) ", listed):
            continue
        declared = [_c_argument(each.replace("*", " * ").split()) for each in listed.split(",") if each not in ("", "void")]
        kind = {"void": "subroutine", "int": "integer(c_int) function"}.get(returned, "type(c_ptr) function")
        names = ", ".join(each.split(":: ")[1].removesuffix("(*)") for each in declared)
        lines += [f"  {kind} {name}({names}) bind(c)", "    import", *(f"    {each}" for each in declared), f"  end {kind.split()[-1]}"]
    return _text(["interface", *lines, "end interface"])


def _c_argument(words):
    name, kind, pointers = words[-1], next(word for word in words if word != "const"), words.count("*")
    intent = "in" if "const" in words else "inout"
    if name == "comm":
        return "type(*), intent(in) :: comm"
    if kind in OTHERS:
        return f"{OTHERS[kind]} :: {name}"
    if kind in NUMBERS and pointers < 2:
        return f"{NUMBERS[kind]}, " + (f"intent({intent}), optional :: {name}(*)" if pointers else f"value :: {name}")
    by_address = pointers == 2 or (pointers == 1 and intent == "inout" and kind != "void")
    return f"type(c_ptr), {'intent(inout)' if by_address else 'value'} :: {name}"


def names(name):
    """Of an enumeration, with the values that C gives them."""
    listed = re.search(rf"enum (?:class )?{name} \{{(.*?)\}}", C, flags=re.S)[1]
    for table in re.findall(r"(\w+)\(PHL_NAME\)", listed):
        rows = re.search(rf"#define {table}\(X\)(.*?)\n\n", C, flags=re.S)[1]
        listed = listed.replace(f"{table}(PHL_NAME)", ",".join(f"PHL_{each}" for each in re.findall(r"X\(\w+, (\w+)", rows)))
    return [each.strip().lower() for each in listed.split(",") if each.strip()]


def public(name):
    return f"  public :: {', '.join(each.split(' ')[0] for each in names(name))}"


def enumeration(name):
    """As C has it."""
    return _text(["enum, bind(c)", *(f"  enumerator :: {each}" for each in names(name)), "end enum"])


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
    body = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", C, flags=re.S)[1].replace("const ", "")
    lines = []
    members = body.replace("PHL_EXCHANGE_OPTIONS(PHL_C_OPTION)", " ".join(f"{OPTIONS[kind][0]} {each};" for _, kind, each in options()))
    for kind, names in re.findall(r"(\w+\*?)\s+([^;]+);", members):
        declared = "type(c_ptr)" if "*" in kind else NUMBERS[kind]
        zero = {"type(c_ptr)": "c_null_ptr", NUMBERS["char"]: "c_null_char"}.get(declared, "0")
        shaped = re.sub(r"\[(\w+)\]", r"(\1)", names).replace("PHL_MAX_DIMENSIONS", "4")
        lines += [f"  {declared} :: {each.strip()} = {zero}" for each in shaped.split(",")]
    return _text([f"type, bind(c) :: {name}", *lines, "end type"])


def opening(type, c_type, *components):
    """Of the type whose procedures follow, and its name in C."""
    this.update(type=type, c_type=c_type)
    return _text([f"type :: {type}", "  private", "  type(c_ptr) :: handle = c_null_ptr", *components, "contains",
                  "  procedure :: free, c_handle", "  final :: finalize"])


def _arguments(listed):
    """Names and kinds of `a: kind, …`, of which `eight: kind` are a to h; a kind may be the name."""
    for name, _, kind in (each.strip().partition(": ") for each in listed.split(",") if each.strip()):
        yield from ((each, kind or name) for each in (EIGHT.split(", ") if name == "eight" else [name]))


def _head(spec, this_intent, type=""):
    """Of the subroutine `name(argument: kind, …)`, those behind `/` after stat and errmsg: its name, its arguments, kinds, and declarations."""
    name, listed = re.fullmatch(r"(\w+)\((.*)\)", spec).groups()
    first, last = (dict(_arguments(part)) for part in f"{listed}/".split("/")[:2])
    kinds = first | last
    lines = [f"{KINDS[kind.rstrip('?')][0]}{', optional' if kind.endswith('?') else ''} :: {each}" for each, kind in kinds.items()]
    if this_intent:
        lines.insert(0, f"class({type or this['type']}), intent({this_intent}) :: this")
    return name, ", ".join([*["this"][: len(this_intent)], *first, "stat", "errmsg", *last]), kinds, lines + STATUS


def head(spec, type="", intent="inout"):
    """The beginning of a subroutine that is written by hand, of this type or another."""
    name, arguments, _, lines = _head(spec, intent, type)
    return _text([f"subroutine {name}({arguments})", *(f"  {line}" for line in lines)])


def _subroutine(spec, call, this_intent, steps):
    """Calls C as `steps` say: `call`, by default phl_f_<name>, with the arguments in its parentheses and those of `spec`, by their names."""
    name, arguments, kinds, lines = _head(spec, this_intent)
    function, _, more = (call or f"phl_f_{name}").partition("(")
    values = [f"{'a' if each == 'x' else each}={(*KINDS[kind.rstrip('?')], '{}')[1].format(each)}" for each, kind in kinds.items()]
    passed = ", ".join([*more.rstrip(")").split(", "), *values]).removeprefix(", ")
    lines += [step.format(f=function, a=passed).replace("(, ", "(").replace(", )", ")") for step in steps]
    return _text([f"subroutine {name}({arguments})", *(f"  {line}" for line in lines), "end subroutine"])


def free_call(spec, call=""):
    """Calls C without a handle."""
    return _subroutine(spec, call, "", ["call finish({f}({a}), stat, errmsg)"])


def method(spec, call="", intent="in"):
    """Calls C with the handle, and tells the status."""
    return _subroutine(spec, call, intent, ["call finish({f}(this%handle, {a}), stat, errmsg)"])


def map_call(spec, call="", reduction=""):
    calls = re.findall(r"&IndexMap::(\w+)", C)
    return method(spec, f"phl_f_map_call({calls.index(call or spec.split('(')[0])}_c_int{reduction and f', reduction=phl_{reduction}'})")


def exchange_call(spec):
    calls = [each.split()[0] for each in names("Call")]
    return method(spec, f"phl_f_exchange_call({calls.index(spec.split('(')[0])}_c_int)")


def maker(spec, call="", then=""):
    """A new handle takes the place of the old one, unless C fails; `then` is done where it has not."""
    room = ["character(kind=c_char), target :: name(phl_name_length + 1)"] if "options" in spec else []
    made = "{a}" if "=made" in call else "{a}, made=made"
    made = ["type(c_ptr) :: made", "made = c_null_ptr", f"call replace(this%handle, {this['c_type']}_free, {{f}}({made}), made, stat, errmsg)"]
    return _subroutine(spec, call, "inout", [*room, *made, *([f"if (c_associated(made)) {then}"] if then else [])])


def ends():
    """`free`, under the comment above it, the finalizer, and the handle for other modules."""
    a_type, free = this["type"], f"{this['c_type']}_free(this%handle)"
    return _text([
        "subroutine free(this, stat, errmsg)", f"  class({a_type}), intent(inout) :: this", *(f"  {line}" for line in STATUS),
        f"  call finish({free}, stat, errmsg)", "end subroutine", "",
        "impure elemental subroutine finalize(this)", f"  type({a_type}), intent(inout) :: this", "  integer(c_int) :: ignored",
        f"  if (c_associated(this%handle)) ignored = {free}", "end subroutine", "",
        "type(c_ptr) function c_handle(this)", f"  class({a_type}), intent(in) :: this", "  c_handle = this%handle", "end function",
    ])
