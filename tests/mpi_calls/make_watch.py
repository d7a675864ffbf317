"""Writes a wrapper around every MPI function that the library calls, whichever those are: C++ for watch.cpp.

    make_watch.py OUTPUT SOURCE_DIRECTORY COMPILER [OPTION…]      (OPTIONs: where mpi.h is)

Prototypes are those of mpi.h. A function that the sources name and mpi.h does not have is an error, but for those of MPI 4,
which the sources leave out where they do not exist.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDERS = ("src", "include", "c", "fortran", "python/bindings")
SUFFIXES = {".cpp", ".hpp", ".h", ".c", ".inl"}
PROTOTYPE = re.compile(r"\b(int|double|MPI_Fint|MPI_Comm)\s+(MPI_[A-Z]\w*)\s*\(([^()]*)\)\s*[^;{}]*;")
TYPES = {"MPI_Comm", "MPI_Fint"}  # in casts and pointers to functions
ONLY_MPI_4 = {"MPI_Neighbor_alltoallw_init"}
# To be called at any time (MPI-4.1 §11.4.1), or the program's to call.
NOT_WATCHED = {"MPI_Init_thread", "MPI_Finalize", "MPI_Initialized", "MPI_Finalized", "MPI_Get_library_version"}


def main() -> None:
    output, root, *compiler = sys.argv[1:]
    known = prototypes(compiler)
    called = calls(Path(root))
    if unknown := called - known.keys() - ONLY_MPI_4:
        sys.exit(f"mpi.h has no prototype of {', '.join(sorted(unknown))}: what calls them is not watched")
    watched = sorted((called & known.keys()) - NOT_WATCHED)
    Path(output).write_text('extern "C" {\n' + "".join(wrapper(name, *known[name]) for name in watched) + '}  // extern "C"\n')


def prototypes(compiler: list[str]) -> dict[str, tuple[str, str]]:
    source = "#include <mpi.h>\n"
    text = subprocess.run([*compiler, "-E", "-P", "-x", "c", "-"], input=source, capture_output=True, text=True, check=True).stdout
    return {name: (result, parameters) for result, name, parameters in PROTOTYPE.findall(text)}


def calls(root: Path) -> set[str]:
    """Names before a parenthesis, and those whose address is taken (between ? : = and ;)."""
    found = set()
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix not in SUFFIXES:
                continue
            code = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', "", path.read_text(), flags=re.DOTALL)
            found |= set(re.findall(r"(?<!operator )\b(MPI_[A-Z][a-z]\w*)\s*\(", code))
            found |= set(re.findall(r"[?:]\s*(MPI_[A-Z][a-z]\w*)\s*[:;]", code))
    return found - TYPES


def wrapper(name: str, result: str, parameters: str) -> str:
    names = [] if parameters.strip() in ("", "void") else [parameter_name(each) for each in parameters.split(",")]
    comms = [n for n, each in zip(names, parameters.split(","), strict=False) if re.match(r"\s*MPI_Comm\s+\w+\s*$", each)]
    watch = f'watch("{name}", {comms[0] if comms else "MPI_COMM_NULL"});'
    call = f"{result} {name}({parameters}) {{ {watch} return P{name}({', '.join(names)}); }}"
    return f"#ifndef {name}\n{call}\n#endif\n"  # some are macros


def parameter_name(parameter: str) -> str:
    return re.findall(r"(\w+)\s*(?:\[[^\]]*\])*\s*$", parameter)[0]


if __name__ == "__main__":
    main()
