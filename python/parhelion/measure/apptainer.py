"""Ranks in an image of Apptainer (or Singularity): started inside it, by the image's own `mpiexec`, as its own Parhelion does."""

import csv
import io
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ..launch import Launch
from ..launch.hosts import Hosts
from ..launch.process import run_command
from ..cli.errors import BadInput
from .measurement import Group, Measurement
from .ranks import Ranks, first_words

RUNTIMES = ("apptainer", "singularity")
PROBE_S = 300.0  # an image is unpacked where it cannot be mounted
OURS = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "PARHELION_FLAVOR", "LD_LIBRARY_PATH", "MPI4PY_LIBMPI", "MPI4PY_MPIABI")  # of this installation
SIF_AT, SIF, SQUASHED = 32, b"SIF_MAGIC", b"hsqs"

ANSWER = "parhelion-image: "
# The Python that has Parhelion: that of the command `parhelion`, or the usual one.
FIND = """
for python in "$(sed -n '1s/^#!//p' "$(command -v parhelion)" 2>/dev/null)" python3; do
  if [ -n "$python" ] && "$python" -c 'import parhelion.launch' 2>/dev/null; then exec "$python" -c "$1" "$2"; fi
done
echo "neither the Python of a command parhelion nor python3 has the package parhelion there"
exit 3
"""
ASK = f"""
import json, sys
from parhelion.launch import FlavorError, find_flavor, flavors
try:
    flavor = find_flavor(sys.argv[1] if sys.argv[1] in flavors() else None, measuring=True)
except FlavorError as error:
    sys.exit(str(error))
told = dict(python=sys.executable, flavor=flavor.name, program=str(flavor.program))
try:
    from parhelion.machine import collect
    told["environment"] = collect()
except ImportError:
    pass
print("{ANSWER}" + json.dumps(told))
"""


@dataclass(frozen=True)
class Image:
    """An image and what is in it; `environment` is `None` where its Python cannot tell."""

    path: Path
    runtime: str
    python: str
    flavor: str
    program: str
    environment: dict[str, Any] | None = None

    def words(self, binds: list[Path]) -> list[str]:
        """What comes before a command that is to run inside, where these folders are to be seen."""
        return [self.runtime, "exec", *(word for folder in binds for word in ("--mount", _bound(folder))), str(self.path)]


class ImageLauncher:
    """Starts the ranks of this host inside the image."""

    def __init__(self, image: Image, measurement: Measurement) -> None:
        self.image, self.measurement = image, measurement

    def start(self, group: Group, arguments: list[str], record: Path, log: Path) -> Ranks:
        what, image = self.measurement, self.image
        binds = [*dict.fromkeys([record.resolve().parent, *_datasets(group)])]
        module = what.module_of(group)
        program = [image.program] if module is None else [image.python, "-m", module]
        launch = [image.python, "-m", "parhelion", "run", "-n", str(group.ranks), "--flavor", image.flavor, *([] if what.bind else ["--no-bind"])]
        words = [*image.words(binds), *launch, *program, *arguments, f"--json={record.resolve()}"]
        return Ranks(Launch(words, _environment() | {"PARHELION_FLAVOR": image.flavor}, []), log)

    def notes(self, group: Group) -> list[str]:
        return [f"the ranks of {self.image.path.name} are started inside it, by its own MPI (flavor {self.image.flavor})"]


def is_image(path: Path) -> bool:
    """A file in a form in which images come, or a folder that Apptainer has made one."""
    if path.is_dir():
        return (path / ".singularity.d").is_dir()
    try:
        with path.open("rb") as file:
            begin = file.read(SIF_AT + len(SIF))
    except OSError:
        return False
    return begin.startswith(SQUASHED) or begin[SIF_AT:] == SIF


def open_image(path: Path, wanted: str) -> Image:
    """The image with what is to be started in it: the `wanted` flavor where it has that. Raises `BadInput`."""
    runtime = next(filter(None, map(shutil.which, RUNTIMES)), None)
    if runtime is None:
        raise BadInput(f"--against {path}: it is an image, and neither {' nor '.join(RUNTIMES)} is on PATH: install one, or give a flavor or a checkout")
    if Hosts.told(os.environ).names:
        raise BadInput(f"--against {path}: the ranks of an image are started inside it, on this host alone: unset PARHELION_HOSTS")
    said: list[str] = []
    done = run_command([runtime, "exec", str(path), "sh", "-c", FIND, "sh", ASK, wanted], _environment(), timeout=PROBE_S, on_line=said.append)
    answer = next((line.removeprefix(ANSWER) for line in said if line.startswith(ANSWER)), None)
    if not done.ok or answer is None:
        why = f"no answer within {PROBE_S:g} s" if done.timed_out else first_words("\n".join(said[-5:]), 400)
        raise BadInput(f"--against {path}: {Path(runtime).name} found no built Parhelion in the image: {why}")
    return Image(path, runtime, **msgspec.json.decode(answer))


def _bound(folder: Path) -> str:
    """A folder at its own place inside: fields of CSV, so that its name may have commas and colons, which cut what `--bind` takes."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(["type=bind", f"src={folder}", f"dst={folder}"])
    return line.getvalue()


def _environment() -> dict[str, str]:
    """Variables reach the inside of an image; those that tell where things are here would mislead it."""
    return {name: value for name, value in os.environ.items() if name not in OURS}


def _datasets(group: Group) -> Iterator[Path]:
    yield from (Path(case["dataset"]).resolve() for case in group.cases if "dataset" in case)
