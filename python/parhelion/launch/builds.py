"""Builds of Parhelion, one per MPI, each described by a ``build.json``, and launches of ranks."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError, build_for
from .cores import single_threaded, usable_cores
from .jobs import Hosts, SlurmJob, without_shell
from .kinds import KINDS, Request
from .mpi import Mpi, MpiMissing, bound_mpi, mpi_of
from .process import Completed, run_command

MOST_RANKS = 2**17  # launchers hang beyond this
LAUNCHER = "PARHELION_LAUNCHER"  # the launcher's command line, used verbatim
FOUND_LATER = ("kind", "mpi_home", "mpiexec", "library_dir")


@contextmanager
def launcher_named(words: str | None) -> Iterator[None]:
    """Use `words` as the launcher inside the context; None changes nothing."""
    before = os.environ.get(LAUNCHER)
    if words:
        os.environ[LAUNCHER] = words
    try:
        yield
    finally:
        os.environ.pop(LAUNCHER, None)  # not left empty: records hold it
        if before is not None:
            os.environ[LAUNCHER] = before


class BuildError(InputError, RuntimeError):
    """A build is missing, or its ``build.json`` is invalid."""


class Launch(NamedTuple):
    """Command line, environment and notes of a launch; `false_start`: see `kinds.Kind`."""

    argv: list[str]
    env: dict[str, str]
    notes: list[str]
    false_start: str | None = None

    def run(self, **how: Any) -> Completed:
        """Start the launch and wait for it, see `run_command`."""
        return run_command(self.argv, self.env, false_start=self.false_start, **how)


@dataclass(frozen=True)
class Build:
    """A build of Parhelion against one MPI. All paths are absolute.

    `kind`, a key of `KINDS`, selects the options of `mpiexec` (None if the MPI has no launcher). `names_folder`: programs need the MPI's
    folder in LD_LIBRARY_PATH.
    """

    name: str
    kind: str
    mpi_home: Path
    mpiexec: Path | None
    library_dir: Path
    library_version: str
    soname: str
    directory: Path
    names_folder: bool = False

    @property
    def program(self) -> Path:
        """Path of this build's measuring program ``phl-bench``."""
        return self.directory / "phl-bench"

    @property
    def library(self) -> Path:
        """Path of the C++ library, by its soname."""
        return next(iter(sorted(self.directory.glob("libparhelion.so.*"))), self.directory / "libparhelion.so")

    @property
    def is_here(self) -> bool:
        """Whether the build's MPI is installed."""
        return True

    @property
    def mpi_library(self) -> Path:
        """Path of the MPI library that the build's programs load."""
        return self.library_dir / self.soname

    def launch(
        self,
        ranks: int,
        program: str | os.PathLike,
        args: Sequence[str | os.PathLike] = (),
        *,
        bind: bool = True,
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        cores: int | None = None,
        setting: Mapping[str, str] | None = None,
    ) -> Launch:
        """Return the command line and environment that start `ranks` ranks of `program`.

        The launcher is that of PARHELION_LAUNCHER, else ``srun`` in a Slurm job, else ``mpiexec``. Raises `BuildError` if there is none,
        ValueError if `ranks` is out of range.

        `bind` binds each rank to a core if cores suffice. `env` is the base environment, by default ``os.environ``; `setting` overrides it,
        on other hosts too. `options` go to the launcher unchanged. `cores` per host defaults to `usable_cores()`. A Python `program` runs
        under this interpreter.
        """
        if not 1 <= ranks <= MOST_RANKS:
            raise ValueError(f"ranks is {ranks}: give at least 1 and at most {MOST_RANKS}")
        setting = dict(setting or {})
        base = without_shell(os.environ if env is None else env) | setting
        job = SlurmJob.told(base)
        request = Request(ranks, cores or (job.cores() if job else usable_cores()), bind, Hosts.told(base))
        threads, notes = single_threaded(base)
        kind = KINDS[self.kind]
        form = kind.form(request, self)
        added = {**setting, **threads, **{key: value for key, value in form.env.items() if key not in base}, **form.forced,
                 **self.mpi4py_environment(), **self._library_path(base)}
        words, told = self._starter(base, None if options else job, request)
        if words is None:
            if self.mpiexec is None:
                pmi = (not told and kind.pmi) or "pmi2"  # told: srun does not offer it
                raise BuildError(f"the MPI of this program, {self.mpi_library} ({self.library_version}), has no known mpiexec"
                                  f"{''.join(f'; {each}' for each in told)}: name the command that starts ranks, such as --launcher 'srun --mpi={pmi}', or {LAUNCHER}")
            words, told = [str(self.mpiexec), *form.words(added)], told + request.notes()
        argv = [*words, *options, "-n", str(ranks), *program_words([os.fspath(word) for word in (program, *args)])]
        return Launch(argv, {**base, **added}, notes + told, kind.false_start)

    def environment(self) -> dict[str, str]:
        """Return the environment for a program of this build outside MPI ranks."""
        return {**os.environ, **self.mpi4py_environment(), **self._library_path(os.environ)}

    @property
    def launcher(self) -> str:
        """Path of ``mpiexec``, or a description for messages."""
        return str(self.mpiexec or f"the launcher of {self.library_version}")

    def _starter(self, env: Mapping[str, str], job: SlurmJob | None, request: Request) -> tuple[list[str] | None, list[str]]:
        """Return the launcher's command line (None: use ``mpiexec``) and notes for the user."""
        if env.get(LAUNCHER):
            try:
                words = shlex.split(env[LAUNCHER])
            except ValueError as error:
                raise BuildError(f"{LAUNCHER}={env[LAUNCHER]} is not a command line: {error}") from None
            if not words or not words[0]:
                raise BuildError(f"{LAUNCHER} (--launcher) is blank: name a command, such as srun, or leave it out")
            return words, []
        return job.srun(KINDS[self.kind].pmi, request.ranks, request.bind) if job and not request.hosts.names else (None, [])

    def mpi4py_environment(self) -> dict[str, str]:
        """Return the variable by which mpi4py chooses this build's MPI, and its wheels their ABI."""
        return {"MPI4PY_LIBMPI": str(self.mpi_library)}

    def _library_path(self, env: Mapping[str, str]) -> dict[str, str]:
        """Put this MPI first in LD_LIBRARY_PATH if that is set, as it overrides RUNPATH."""
        inherited = env.get("LD_LIBRARY_PATH")
        folders = os.pathsep.join([str(self.library_dir), *filter(None, [inherited])])
        return {"LD_LIBRARY_PATH": folders} if inherited or self.names_folder else {}


class WheelBuild(Build):
    """A wheel's build for an ABI. It searches for its MPI on first use; ranks never do, because theirs is loaded."""

    def __init__(self, name: str, library_version: str, soname: str, directory: Path) -> None:
        vars(self).update(name=name, library_version=library_version, soname=soname, directory=directory)

    def __getattr__(self, name: str) -> object:
        if name not in FOUND_LATER:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        mpi = self._mpi()
        return {"kind": mpi.kind, "mpi_home": mpi.home, "mpiexec": mpi.mpiexec, "library_dir": mpi.library.parent}[name]

    @property
    def is_here(self) -> bool:
        try:
            return bool(self._mpi())
        except BuildError:
            return False

    @property
    def mpi_library(self) -> Path:
        return self._mpi().library

    def _mpi(self) -> Mpi:
        try:
            return mpi_of(self.soname)
        except MpiMissing as error:
            raise BuildError(f"build {self.name} cannot run: {error}") from error

    @property
    def names_folder(self) -> bool:
        """True unless the dynamic linker finds the MPI: a wheel's binaries name no path to it."""
        return not self._mpi().by_linker


def build_directory() -> Path:
    """Return the folder of all builds: ``_builds`` in the package."""
    return Path(__file__).resolve().parent.parent / "_builds"


def load_build(file: str | os.PathLike) -> Build:
    """Read a ``build.json``, whose paths are relative to its folder (a wheel's has none). Raises `BuildError` if it is invalid."""
    file = Path(file).resolve()
    try:
        text = json.loads(file.read_text())
        words = {key: str(text[key]) for key in ("name", "library_version", "soname")}
        if "mpi_home" not in text:
            return WheelBuild(**words, directory=file.parent)
        kind, mpi_home, library_dir = str(text["kind"]), _absolute(file.parent, text["mpi_home"]), _absolute(file.parent, text["library_dir"])
        mpiexec = _absolute(file.parent, text["mpiexec"]) if text["mpiexec"] else None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BuildError(f"{file} does not describe a build ({error!r}): {build_for('mpich', again=True)}") from error
    if kind not in KINDS:
        raise BuildError(f"{file}: unknown kind of MPI {kind!r}: use one of {', '.join(KINDS)}")
    return Build(words["name"], kind, mpi_home, mpiexec, library_dir, words["library_version"], words["soname"], file.parent)


def installed_builds(directory: str | os.PathLike | None = None) -> dict[str, Build]:
    """Return all builds by name, including those whose MPI is missing. Local; does not search for MPIs."""
    found = Path(directory or build_directory()).glob("*/build.json")
    return {build.name: build for build in map(load_build, sorted(found))}


def usable_builds(directory: str | os.PathLike | None = None) -> dict[str, Build]:
    """Return the builds whose MPI is installed, by name; empty if there is none."""
    return {name: build for name, build in installed_builds(directory).items() if build.is_here}


def find_build(name: str | None = None, directory: str | os.PathLike | None = None, *, measuring: bool = False) -> Build:
    """Return the build `name`; by default that of PARHELION_BUILD, else the last one built, else the only one.

    With `measuring`, it must have its measuring program. Raises `BuildError` if it is missing.
    """
    directory = Path(directory or build_directory())
    built = installed_builds(directory)
    name = name or os.environ.get("PARHELION_BUILD") or usual_name(directory, built)
    if name not in built:
        wanted = "a default build" if name is None else f"build {name!r}"
        raise BuildError(f"{wanted} is not built in {directory} (built: {', '.join(built) or 'none'}): {build_for(name or 'mpich')}")
    if measuring and not os.access(built[name].program, os.X_OK):
        raise BuildError(f"build {name} has no {built[name].program}: {build_for(name, again=True, bench=True)}")
    return built[name]


def usual_name(directory: Path, built: Mapping[str, Build]) -> str | None:
    """Return the last build made in a checkout, or a wheel's build for mpi4py's MPI."""
    try:
        last = (directory / "default").read_text().strip()
    except OSError:
        last = ""
    if last or len(built) < 2:
        return last or next(iter(built), None)
    try:
        soname = bound_mpi().soname
    except MpiMissing as error:
        raise BuildError(str(error)) from error
    return next((name for name, build in built.items() if build.soname == soname), None)


def default_build(directory: str | os.PathLike | None = None) -> Build:
    """Return the default build, see `find_build`. Raises `BuildError` if there is none."""
    return find_build(directory=directory)


def _absolute(base: Path, text: str) -> Path:
    # Do not resolve links: MPI finds its prefix from .venv/bin/mpiexec.
    return Path(os.path.normpath(base / text))


def program_words(words: Sequence[str]) -> list[str]:
    """Return the command line to start: ``x.py`` and a bare ``python`` run under this interpreter."""
    if words[0] in ("python", "python3"):
        return [sys.executable, *words[1:]]
    return [sys.executable, *words] if words[0].endswith(".py") else list(words)


def run(
    ranks: int,
    program: str | os.PathLike,
    args: Sequence[str | os.PathLike] = (),
    *,
    build: Build | None = None,
    timeout: float | None = None,
    cwd: str | os.PathLike | None = None,
    on_line: Callable[[str], None] | None = None,
    **how: Any,
) -> Completed:
    """Start `ranks` ranks of `program` and wait; `how` goes to `Build.launch`.

    `build` defaults to `default_build()`. After `timeout` seconds all ranks are terminated. Output goes to this process's streams, or by
    lines to `on_line`. Raises `BuildError` if there is no build or launcher.
    """
    return (build or default_build()).launch(ranks, program, args, **how).run(timeout=timeout, cwd=cwd, on_line=on_line)
