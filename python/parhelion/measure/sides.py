"""Several sides over the same cases: builds × networks, or interleaved A/B against another build.

The other build belongs to this checkout, another checkout, or an Apptainer image whose own MPI starts the ranks inside it.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from ..analyze.words import first_words
from ..errors import InputError
from ..launch import BuildError, Launch, find_build, usable_builds
from ..launch.builds import usual_name
from ..launch.jobs import Hosts, SlurmJob
from ..launch.kinds import NETWORKS, network_setting
from ..launch.process import run_command
from ..machine.collect import collect
from .measurement import Group, Measurement, Side

USUAL_MPIS = ("mpich", "openmpi", "impi")
BUILDS = Path("python", "parhelion", "_builds")


def sides_of(what: Measurement) -> list[Side]:
    """Return the combinations, or with `against` the other build (A) and this one (B). Raises `InputError` if this is impossible here."""
    job = SlurmJob.told(os.environ)
    if what.live and (Hosts.told(os.environ).names or (job and job.nodes > 1)):
        raise InputError("--live alternates ranks on the cores of one host: measure on one host, or leave out --live to alternate launches")
    if what.combined:
        return _combinations(what)
    this = Side.here(what)
    return [_other(str(what.against), this.name).check(what), this]


def _combinations(what: Measurement) -> list[Side]:
    """Return every network for each MPI; combinations that cannot run have a reason."""
    if what.against:
        raise InputError(f"--against {what.against}: a matrix compares its combinations itself; leave out one of the two")
    if what.build:
        raise InputError(f"--build {what.build}: name several builds before the benchmark, such as `parhelion bench --builds {what.build},… halo`")
    mpis, networks = (() if names == ("all",) else names for names in (what.builds, what.networks))
    for unknown in [name for name in networks if name not in NETWORKS]:
        raise InputError(f"--networks {unknown}: choose from {', '.join(NETWORKS)}")
    pairs = product(dict.fromkeys(mpis or [*USUAL_MPIS, *usable_builds()]), dict.fromkeys(networks or NETWORKS))
    sides = [_combination(mpi, network).check(what) for mpi, network in pairs]
    if all(side.reason for side in sides):
        raise InputError("no combination can run here:\n" + "\n".join(dict.fromkeys(f"{side.name}: {side.reason}" for side in sides)))
    return sides


def _combination(mpi: str, network: str) -> Side:
    side = Side(f"{mpi} over {network}", params={"mpi": mpi, "network": network})
    try:
        build = find_build(mpi, measuring=True)
        variables, reason = network_setting(network, build.kind)  # of a wheel, if its MPI is installed
        build.launch(1, build.program)  # if there is something to start it with
    except BuildError as error:
        return replace(side, reason=str(error))
    if network == "shm" and Hosts.told(os.environ).names:
        reason = reason or "the ranks are on several hosts, which share no memory: the MPI would use a network after all"
    return replace(side, build=build, setting=variables, reason=reason)


def _other(text: str, here: str) -> Side:
    path = Path(text)
    if text in usable_builds():
        return Side(text, find_build(text, measuring=True))
    if is_image(path):
        image = SoftwareImage.open(path.resolve(), here)
        return Side(path.name, environment={**collect(), **(image.environment or {"software": None})}, image=image)
    if path.is_dir():
        return _checkout(path.resolve(), here)
    if path.exists():
        raise InputError(f"--against {text}: the file is not an image: it is neither SIF nor SquashFS")
    raise InputError(f"--against {text}: no build has this name (built: {', '.join(usable_builds()) or 'none'}), and no folder or "
                     "file exists there: give a build, a checkout in which `make build` was run, or an image of Apptainer")


def _checkout(path: Path, here: str) -> Side:
    """Return the checkout's build of the same name as this one, else the one built last."""
    folder = path / BUILDS
    built = usable_builds(folder) if folder.is_dir() else {}
    if not built:
        raise InputError(f"--against {path}: the folder is neither a built checkout ({BUILDS} in it holds no build) "
                         "nor an image (it has no .singularity.d): run `make build` there")
    build = find_build(here if here in built else usual_name(folder, built), folder, measuring=True)
    return Side(f"{path.name}/{build.name}", build, environment=collect(path), package=path / "python")


RUNTIMES = ("apptainer", "singularity")
PROBE_S = 300.0  # Apptainer unpacks an image that it cannot mount
OURS = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "PARHELION_BUILD", "LD_LIBRARY_PATH", "MPI4PY_LIBMPI", "MPI4PY_MPIABI")  # specific to this installation
SIF_AT, SIF, SQUASHED = 32, b"SIF_MAGIC", b"hsqs"

ANSWER = "parhelion-image: "
# Find the Python of the command `parhelion`, else python3.
FIND = """
for python in "$(sed -n '1s/^#!//p' "$(command -v parhelion)" 2>/dev/null)" python3; do
  if [ -n "$python" ] && "$python" -c 'import parhelion.launch' 2>/dev/null; then exec "$python" -c "$1" "$2"; fi
done
echo "neither the Python of a command parhelion nor python3 has the package parhelion there"
exit 3
"""
ASK = f"""
import json, sys
from parhelion.launch import BuildError, find_build, usable_builds
try:
    build = find_build(sys.argv[1] if sys.argv[1] in usable_builds() else None, measuring=True)
except BuildError as error:
    sys.exit(str(error))
told = dict(python=sys.executable, build=build.name, program=str(build.program))
try:
    from parhelion.machine.collect import collect
    told["environment"] = collect()
except ImportError:
    pass
print("{ANSWER}" + json.dumps(told))
"""


@dataclass(frozen=True)
class SoftwareImage:
    """An Apptainer (or Singularity) image and its build; `environment` is None if its Python cannot tell."""

    path: Path
    runtime: str
    python: str
    build: str
    program: str
    environment: dict[str, Any] | None = None

    @classmethod
    def open(cls, path: Path, wanted: str) -> SoftwareImage:
        """Probe the image for the build `wanted`, else its default. Raises `InputError`."""
        runtime = next(filter(None, map(shutil.which, RUNTIMES)), None)
        if runtime is None:
            raise InputError(f"--against {path}: it is an image, and neither {' nor '.join(RUNTIMES)} is on PATH: install one, or give a build or a checkout")
        if Hosts.told(os.environ).names:
            raise InputError(f"--against {path}: the ranks of an image are started inside it, on this host alone: unset PARHELION_HOSTS")
        said: list[str] = []
        done = run_command([runtime, "exec", str(path), "sh", "-c", FIND, "sh", ASK, wanted], _environment(), timeout=PROBE_S, on_line=said.append)
        answer = next((line.removeprefix(ANSWER) for line in said if line.startswith(ANSWER)), None)
        if not done.ok or answer is None:
            why = f"no answer within {PROBE_S:g} s" if done.timed_out else first_words("\n".join(said[-5:]), 400)
            raise InputError(f"--against {path}: {Path(runtime).name} found no built Parhelion in the image: {why}")
        return cls(path, runtime, **msgspec.json.decode(answer))

    def launch(self, what: Measurement, group: Group, arguments: list[str]) -> Launch:
        """Return a launch inside the image, on this host; binds the folders that `arguments` and cases name."""
        files = [Path(word.partition("=")[2]).parent for word in arguments if word.startswith(("--json=", "--turns="))]
        binds = dict.fromkeys([*files, *(Path(case["dataset"]).resolve() for case in group.cases if "dataset" in case)])
        program = [self.program] if group.module is None else [self.python, "-m", group.module]
        launcher = [self.python, "-m", "parhelion", "run", "-n", str(group.ranks), "--build", self.build, *["--no-bind"] * (not what.bind)]
        note = f"the ranks of {self.path.name} are started inside it, by its own MPI (build {self.build})"
        return Launch([*self.words(binds), *launcher, *program, *arguments], _environment() | {"PARHELION_BUILD": self.build}, [note])

    def words(self, binds: Iterable[Path]) -> list[str]:
        """Return the command line that runs a command inside the image; --mount takes CSV fields, so paths may contain commas and colons."""
        words = [self.runtime, "exec"]
        for folder in binds:
            line = io.StringIO()
            csv.writer(line, lineterminator="").writerow(["type=bind", f"src={folder}", f"dst={folder}"])
            words += ["--mount", line.getvalue()]
        return [*words, str(self.path)]


def is_image(path: Path) -> bool:
    """Whether the path is an image file (SIF, SquashFS) or an Apptainer sandbox folder."""
    if not path.is_file():
        return (path / ".singularity.d").is_dir()
    try:
        with path.open("rb") as file:
            begin = file.read(SIF_AT + len(SIF))
    except OSError:
        return False
    return begin.startswith(SQUASHED) or begin[SIF_AT:] == SIF


def _environment() -> dict[str, str]:
    """Return the environment without variables of this installation, which would mislead the image."""
    return {name: value for name, value in os.environ.items() if name not in OURS}
