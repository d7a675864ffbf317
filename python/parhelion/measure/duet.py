"""Two builds measured in turn, launch by launch, so that whatever the machine does meanwhile meets both (Bulej et al., "Duet
Benchmarking", ICPE 2020, run both at once; ranks that need all cores cannot).

The other build is another flavor, another checkout, or an image of Apptainer, told by what the name is the name of.
Each writes a run of its own. Both runs have the same label `duet`, and starts of the same pair the same number `pair`.
"""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..launch import Flavor, find_flavor, flavors, inside_launcher
from ..cli.errors import BadInput
from ..show.terminal import Output
from ..machine.collect import collect
from ..record.read import Record
from ..record.model import RecordError
from ..record.folder import RunFolder
from ..record.model import DUET
from .apptainer import ImageLauncher, is_image, open_image
from .launcher import OwnLauncher, Starter, check_contenders
from .measurement import Group, Measurement
from .ranks import RunProgress
from .session import Session, command_line, kept

FLAVORS = Path("python", "parhelion", "_flavors")


@dataclass(frozen=True)
class Side:
    """One of two builds that take turns. `name` is what people call it, `environment` what its figures depend on."""

    name: str
    how: Starter
    environment: dict[str, Any]


def this_side(measurement: Measurement) -> Side:
    """The build that would be measured alone."""
    flavor = find_flavor(measurement.flavor, measuring=True)
    check_contenders(flavor, measurement)
    return Side(flavor.name, OwnLauncher(flavor, measurement), collect())


def other_side(text: str, measurement: Measurement) -> Side:
    """What `--against` names; raises `BadInput` with what was tried."""
    here = find_flavor(measurement.flavor, measuring=True).name
    path = Path(text)
    if text in flavors():
        return _flavor(text, find_flavor(text, measuring=True), measurement)
    if is_image(path):
        return _image(path, here, measurement)
    if path.is_dir():
        return _checkout(path.resolve(), here, measurement)
    if path.exists():
        raise BadInput(f"--against {text}: the file is no image: it begins neither as SIF nor as a squashed file system does")
    raise BadInput(f"--against {text}: no flavor of that name is built here (built: {', '.join(flavors()) or 'none'}), and there is no folder and "
                   "no file of that name: give a flavor, a checkout in which `make build` was run, or an image of Apptainer")  # fmt: skip


def _flavor(name: str, flavor: Flavor, measurement: Measurement) -> Side:
    check_contenders(flavor, measurement)
    return Side(name, OwnLauncher(flavor, measurement), collect())


def _checkout(path: Path, here: str, measurement: Measurement) -> Side:
    """The flavor that is measured here, or the one that the checkout has built last."""
    folder = path / FLAVORS
    built = flavors(folder) if folder.is_dir() else {}
    if not built:
        raise BadInput(f"--against {path}: the folder is no built checkout, for {FLAVORS} in it holds no flavor (and no image, "
                       "for it has no .singularity.d): run `make build` there")  # fmt: skip
    flavor = find_flavor(here, folder, measuring=True) if here in built else _default(folder)
    check_contenders(flavor, measurement)
    return Side(f"{path.name}/{flavor.name}", OwnLauncher(flavor, measurement, path / "python"), collect(path))


def _default(folder: Path) -> Flavor:
    """As the checkout itself would choose; our own variable names a flavor of this one."""
    kept = os.environ.pop("PARHELION_FLAVOR", None)
    try:
        return find_flavor(None, folder, measuring=True)
    finally:
        if kept is not None:
            os.environ["PARHELION_FLAVOR"] = kept


def _image(path: Path, here: str, measurement: Measurement) -> Side:
    image = open_image(path.resolve(), here)
    environment = {**collect(), **(image.environment or {"software": None})}
    return Side(path.name, ImageLauncher(image, measurement), environment)


NAMES = "AB"


def measure_pairs(measurement: Measurement, against: str, output: Output) -> tuple[Record, Record]:
    """The records of `against` (A) and of the build that would be measured alone (B), whatever happened.

    A goes first in every other pair. Where a group's ranks fail on one side, that group ends on the other side as well.
    A signal passes through, with a note of where the finished cases are. Raises `BadInput` for what cannot be measured so.
    """
    if inside_launcher():
        raise BadInput("--against starts the ranks itself, those of two builds in turn: run it without mpiexec or srun")
    what = replace(measurement, paired=True)
    sides = (other_side(against, what), this_side(what))
    folders = _folders(sides, what)
    progress = RunProgress(output.errors, what.benchmark, len(NAMES) * len(what.starts))
    runs = [Session(side.how, folder, what, progress) for side, folder in zip(sides, folders, strict=True)]
    _say(sides, what, output)
    with kept(runs), progress.bar:
        _take_turns(runs, sides)
    return runs[0].record(), runs[1].record()


def _folders(sides: Sequence[Side], what: Measurement) -> list[RunFolder]:
    """Both runs, or none. A label `image` that was given is this side's."""
    common, made = {**what.labels, DUET: secrets.token_hex(4)}, list[RunFolder]()
    named = ({**common, "image": sides[0].name}, {"image": sides[1].name, **common})
    try:
        for letter, side, labels in zip(NAMES, sides, named, strict=True):
            made.append(RunFolder.create(what.benchmark, command_line(), side.environment, what.out / letter if what.out else None, labels))
    except RecordError:
        for folder in made:
            folder.record.unlink(missing_ok=True)
        raise
    return made


def _say(sides: Sequence[Side], what: Measurement, output: Output) -> None:
    for letter, side in zip(NAMES, sides, strict=True):
        output.errors.print(f"{letter}: {side.name}", style="dim", markup=False, soft_wrap=True)
    notes = dict.fromkeys(note for side in sides for note in side.how.notes(what.groups[0]))
    pairs = f"{len(what.starts)} pairs of launches, A first in every other one, cases in the same order on both sides (seed {what.seed})"
    for note in (*notes, pairs):
        output.errors.print(note, style="dim", soft_wrap=True)


def first_of_pair(launch: int, groups: int) -> int:
    """Which side goes first: for each group of cases it changes from pair to pair, and with the groups."""
    return (launch // groups + launch % groups) % 2


def _take_turns(runs: Sequence[Session], sides: Sequence[Side]) -> None:
    what = runs[0].what
    for launch, group in what.starts:
        first = first_of_pair(launch, len(what.groups))
        for place, which in enumerate((first, 1 - first)):
            _take_turn(runs, which, launch, group, 2 * launch + place, f"{NAMES[which]}: {sides[which].name}")


def _take_turn(runs: Sequence[Session], which: int, launch: int, group: Group, number: int, who: str) -> None:
    """Ranks that failed once fail again, and a start without its partner tells nothing."""
    run = runs[which]
    for name, side in zip(NAMES, runs, strict=True):
        if failure := side.failure_of(group):
            run.leave_out(launch, failure, f"the same cases of {name}")
            run.progress.left_out(number)
            return
    run.progress.starting(number, group.ranks, who)
    run.start(launch, group)
