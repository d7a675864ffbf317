"""Loading of the native module."""

import importlib.machinery
import importlib.util
import os
from types import ModuleType

from ..errors import MpiMismatchError
from ..launch import Build, installed_builds
from ..launch.mpi import loaded_mpi_libraries, name_of, symbol_address
from . import mismatch
from .alone import import_mpi, refuse_to_be_alone


def load_core(name: str) -> ModuleType:
    """Load the native module under `name`. Imports mpi4py.MPI, which starts MPI.

    Raises MpiMismatchError if no build fits mpi4py's MPI, the process has loaded two MPIs, or the launcher belongs to another MPI.
    """
    MPI = _import_mpi()
    refuse_to_be_alone(MPI)
    build = choose_build(MPI)
    module = _execute(name, build)
    refuse_two_mpis()
    return module


def choose_build(MPI: ModuleType) -> Build:
    """Return the build for mpi4py's MPI, which `launch.find_build` cannot know because it loads no MPI."""
    version = MPI.Get_library_version()
    built = {name: build for name, build in installed_builds().items() if _extension(build)}
    address = symbol_address(str(MPI.__file__))
    fitting = [build for build in built.values() if address and symbol_address(build.soname) == address]
    if not fitting:
        raise MpiMismatchError(mismatch.no_build(version, address, list(built.values())))
    wanted = os.environ.get("PARHELION_BUILD")
    # Related MPIs share a soname: prefer the requested build, then one for exactly this version.
    return max(fitting, key=lambda build: (build.name == wanted, name_of(build.library_version) == name_of(version)))


def refuse_two_mpis() -> None:
    """Raise MpiMismatchError if the process has loaded two MPIs."""
    loaded = loaded_mpi_libraries()
    if len(loaded) > 1:
        raise MpiMismatchError(mismatch.two_mpis(loaded))


def _import_mpi() -> ModuleType:
    try:
        return import_mpi()
    except MpiMismatchError:
        raise
    except (ImportError, RuntimeError) as error:
        raise MpiMismatchError(mismatch.no_mpi(error)) from error


def _execute(name: str, build: Build) -> ModuleType:
    path = str(_extension(build))
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.machinery.ModuleSpec(name, loader, origin=path)
    spec.has_location = True
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise MpiMismatchError(mismatch.does_not_load(path, error, build)) from error
    return module


def _extension(build: Build) -> str | None:
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        if (build.directory / f"_core{suffix}").exists():
            return str(build.directory / f"_core{suffix}")
    return None
