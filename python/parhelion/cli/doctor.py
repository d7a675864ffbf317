"""`parhelion doctor`, and `parhelion config`, which prints paths and flags for compilers and needs only click."""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from ..errors import ROOT, InputError, in_checkout
from ..launch import Build, find_build
from .options import RANKS, json_option


@click.command()
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks: warn if this host has too few cores [no check].")
@click.option("--start/--no-start", default=None, help="Start two ranks under each build, and print the network that its MPI uses [not on a login node].")
@json_option
def doctor(ranks: int | None, start: bool | None, json_file: str | None) -> None:
    """Examine this machine: cores, MPIs, transports that work here, and why others do not.

    Tests every facility and changes nothing. On a login node it starts no ranks without --start.
    """
    from ..machine.doctor import examine
    from ..show.doctor import blocks
    from ..show.terminal import Output

    output = Output(json_file)
    examination = examine(ranks, start)
    output.show(blocks(examination))
    output.document(examination.document())


# Order of the output.
OPTIONS = {
    "cmake": "The folder for -Dparhelion_DIR=.",
    "pkgconfig": "The folder for PKG_CONFIG_PATH.",
    "include": "The folder of the headers.",
    "library": "The shared library.",
    "cflags": "For C and C++, with the compiler wrapper of the MPI: mpicc, mpicxx -std=c++20.",
    "fflags": "For gfortran.",
    "libs": "The linker's flags; with --fflags, the Fortran library too.",
}


def answer(asked: Sequence[str], build_name: str | None) -> str:
    """Return the requested facts on one line, else a list of all. Raises InputError if the headers are not installed, as in a checkout."""
    told = facts(find_build(build_name), "fflags" in asked)
    if asked:
        return " ".join(told[name] for name in OPTIONS if name in asked)
    return "\n".join(f"{name:10} {text}" for name, text in told.items())


def facts(build: Build, fortran: bool = False) -> dict[str, str]:
    sdk = Path(__file__).resolve().parents[1] / "_sdk"
    if not sdk.is_dir():
        remedy = f"`make -C {ROOT} install PREFIX=…`, and then PREFIX/lib/cmake and PREFIX/lib/pkgconfig" if in_checkout() else "install it again"
        raise InputError(f"this package is not installed with its headers ({sdk}): {remedy}")
    folder, libraries, linker = build.directory, [build.library], []
    mpi = build.mpi_library if build.is_here else None
    if fortran:
        libraries = [*folder.glob("libparhelion_fortran.so.*"), *libraries]
        # gfortran links no MPI; an MPI that is missing here may exist at run time.
        linker = ["-Wl,--allow-shlib-undefined", *(["-Wl,--no-as-needed", str(mpi), "-Wl,--as-needed"] if mpi else [])]
        if len(libraries) == 1:
            raise InputError(f"build {build.name} was built without a Fortran compiler; the sources of the interface are in its source package")
    return {
        "build": build.name,
        "cmake": str(sdk / "cmake" / "parhelion"),
        "pkgconfig": str(folder / "pkgconfig"),
        "include": str(sdk / "include"),
        "library": str(build.library),
        "cflags": f"-I{sdk / 'include'} -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX",
        "fflags": f"-I{sdk / 'include' / 'parhelion' / 'modules'}",
        "libs": " ".join([*linker, f"-L{folder}", *_run_path(folder, mpi), *(f"-l:{library.name}" for library in libraries)]),
    }


def _run_path(folder: Path, mpi: Path | None) -> list[str]:
    """Return run paths of libparhelion and of the MPI, which compiler wrappers may omit, so that any launcher can start the program."""
    return [f"-Wl,-rpath,{each}" for each in (folder, mpi.parent if mpi else None) if each]


def _flags(command: Callable) -> Callable:
    for name, about in reversed(OPTIONS.items()):
        command = click.option(f"--{name}", is_flag=True, help=about)(command)
    return command


@click.command()
@_flags
@click.option("--build", "build", metavar="BUILD", help="Which build [that of the MPI that mpi4py is bound to].")
def config(build: str | None, **asked: bool) -> None:
    """Print the folders of headers, library, and files for CMake and pkg-config.

    Compile with the wrapper of your MPI: mpicxx -std=c++20 $(parhelion config --cflags) solver.cpp $(parhelion config --libs)
    """
    click.echo(answer([name for name, wanted in asked.items() if wanted], build))
