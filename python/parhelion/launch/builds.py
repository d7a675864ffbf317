"""Builds: one build of Parhelion per MPI, each in a directory told by ``build.json``; and how ranks are started under one."""

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
from .cores import usable_cores
from .jobs import Hosts, SlurmJob, without_shell
from .kinds import KINDS, Request
from .mpi import Mpi, MpiMissing, bound_mpi, mpi_of
from .process import Completed, run_command

MOST_RANKS = 2**17  # launchers hang with more
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
LAUNCHER = "PARHELION_LAUNCHER"  # the launcher command, unchanged
FOUND_LATER = ("kind", "mpi_home", "mpiexec", "library_dir")


@contextmanager
def launcher_named(words: str | None) -> Iterator[None]:
    """What is started within has this launcher; None leaves it as it is."""
    before = os.environ.get(LAUNCHER, "")  # empty: no launcher
    os.environ[LAUNCHER] = words or before
    try:
        yield
    finally:
        os.environ[LAUNCHER] = before


class BuildError(InputError, RuntimeError):
    """A build is missing, or its description cannot be used."""


class Launch(NamedTuple):
    """A command line for the launcher, the environment for it, what was decided on the way, and what it says at a false start."""

    argv: list[str]
    env: dict[str, str]
    notes: list[str]
    false_start: str | None = None

    def run(self, **how: Any) -> Completed:
        """Start it and wait, see `run_command`."""
        return run_command(self.argv, self.env, false_start=self.false_start, **how)


@dataclass(frozen=True)
class Build:
    """A build against one MPI. Paths are absolute.

    `kind` (a key of `KINDS`) says how `mpiexec` wants its options; None where that MPI has no launcher of its own.
    `names_folder`: its programs do not find the MPI by themselves, so ranks are told its folder.
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
        """The measuring program ``phl-bench`` of this build."""
        return self.directory / "phl-bench"

    @property
    def library(self) -> Path:
        """The C++ library, under the name that programs load."""
        return next(iter(sorted(self.directory.glob("libparhelion.so.*"))), self.directory / "libparhelion.so")

    @property
    def is_here(self) -> bool:
        """Whether the MPI that it runs on is here."""
        return True

    @property
    def mpi_library(self) -> Path:
        """The MPI library that this build's programs load."""
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
        """Command line and environment that start `ranks` ranks of `program`: with the launcher that PARHELION_LAUNCHER names, as it is; inside
        a job with its scheduler's ``srun``; else with ``mpiexec``. Raises `BuildError` where there is none of them.

        `bind`: one rank on one core, where there are cores enough. `env` (``os.environ`` by default) is the environment to start from, and is
        overruled by `setting` alone, which reaches ranks on other hosts too. `options` go to the launcher as they are. `cores`, of a host, defaults
        to `usable_cores()`. A `program` in Python runs under this Python, see `program_words`.
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
                raise BuildError(f"the MPI of this program, {self.mpi_library} ({self.library_version}), has no mpiexec that is known"
                                  f"{''.join(f'; {each}' for each in told)}: say how ranks are started, such as --launcher 'srun --mpi=pmi2', or {LAUNCHER}")
            words, told = [str(self.mpiexec), *form.words(added)], told + request.notes()
        argv = [*words, *options, "-n", str(ranks), *program_words([os.fspath(word) for word in (program, *args)])]
        return Launch(argv, {**base, **added}, notes + told, kind.false_start)

    def environment(self) -> dict[str, str]:
        """For a program of this build that is no rank."""
        return {**os.environ, **self.mpi4py_environment(), **self._library_path(os.environ)}

    @property
    def launcher(self) -> str:
        """Its ``mpiexec``, for messages."""
        return str(self.mpiexec or f"the launcher of {self.library_version}")

    def _starter(self, env: Mapping[str, str], job: SlurmJob | None, request: Request) -> tuple[list[str] | None, list[str]]:
        """The words before the program, and what the user should know. None for the words where ``mpiexec`` has to start the ranks."""
        if env.get(LAUNCHER):
            try:
                return shlex.split(env[LAUNCHER]), []
            except ValueError as error:
                raise BuildError(f"{LAUNCHER}={env[LAUNCHER]} is no command line: {error}") from None
        return job.srun(KINDS[self.kind].pmi, request.ranks, request.bind) if job and not request.hosts.names else (None, [])

    def mpi4py_environment(self) -> dict[str, str]:
        """Makes mpi4py load this build's MPI: its wheels choose their build, too, by the library that this variable names."""
        return {"MPI4PY_LIBMPI": str(self.mpi_library)}

    def _library_path(self, env: Mapping[str, str]) -> dict[str, str]:
        """LD_LIBRARY_PATH beats what a binary says, so where one is set, this MPI comes first in it."""
        inherited = env.get("LD_LIBRARY_PATH")
        folders = os.pathsep.join([str(self.library_dir), *filter(None, [inherited])])
        return {"LD_LIBRARY_PATH": folders} if inherited or self.names_folder else {}


class WheelBuild(Build):
    """A build for an ABI. Which MPI it runs on is looked for when it is first asked: ranks, which have one, never ask."""

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
        """What a wheel holds names no folder of an MPI."""
        return not self._mpi().by_linker


def build_directory() -> Path:
    """Where builds are: ``_builds`` in the package."""
    return Path(__file__).resolve().parent.parent / "_builds"


def load_build(file: str | os.PathLike) -> Build:
    """The build told by a ``build.json``. Relative paths in it are relative to its directory; one without paths is a wheel's."""
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
        raise BuildError(f"{file}: kind of MPI is {kind!r}, known are {', '.join(KINDS)}")
    return Build(words["name"], kind, mpi_home, mpiexec, library_dir, words["library_version"], words["soname"], file.parent)


def installed_builds(directory: str | os.PathLike | None = None) -> dict[str, Build]:
    """Every build, by name, also a wheel's whose MPI is not here. Ranks use this: nothing is looked for."""
    found = Path(directory or build_directory()).glob("*/build.json")
    return {build.name: build for build in map(load_build, sorted(found))}


def usable_builds(directory: str | os.PathLike | None = None) -> dict[str, Build]:
    """Every build whose MPI is here, by name; empty when none is."""
    return {name: build for name, build in installed_builds(directory).items() if build.is_here}


def find_build(name: str | None = None, directory: str | os.PathLike | None = None, *, measuring: bool = False) -> Build:
    """The build of that name; without one, that of PARHELION_BUILD, else the one built last, else the only one there is.

    With `measuring`, its measuring program must be there too.
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
    """In a checkout the build built last; of a wheel the one that mpi4py's MPI can run."""
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
    """The build that is used where none is named, see `find_build`."""
    return find_build(directory=directory)


def _absolute(base: Path, text: str) -> Path:
    # Keeps symbolic links: MPI finds its prefix from .venv/bin/mpiexec.
    return Path(os.path.normpath(base / text))


def single_threaded(env: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Variables to add so that each rank has one thread, and a note; those already set are kept."""
    added = {name: "1" for name in THREADS if name not in env}
    kept = [f"{name}={env[name]}" for name in THREADS if name in env]
    notes = [f"{', '.join(kept)} kept from the environment"] if kept else []
    if added:
        notes.insert(0, f"{', '.join(added)} set to 1")
    return added, notes


def program_words(words: Sequence[str]) -> list[str]:
    """`words` as they are to be started: ``x.py``, and ``python`` without a path, mean this Python, which has the packages."""
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
    """Start `ranks` ranks of `program` under `build` (the default one), with `Build.launch`'s other options, and wait. After `timeout` seconds
    every rank is ended. Output streams to ours, or line by line to `on_line`."""
    return (build or default_build()).launch(ranks, program, args, **how).run(timeout=timeout, cwd=cwd, on_line=on_line)
