"""Two builds measured in turn, launch by launch, so that whatever the machine does meanwhile meets both (Bulej et al., "Duet
Benchmarking", ICPE 2020, run both at once; ranks that need all cores cannot).

Each writes a run of its own. Both runs have the same label `duet`, and starts of the same pair the same number `pair`.
"""

import secrets
from collections.abc import Sequence
from dataclasses import replace

from ...launch import inside_launcher
from ..cli.errors import BadInput
from ..cli.output import Output
from ..records import Record, RecordError, RunFolder
from ..records.model import DUET
from .measurement import Group, Measurement
from .progress import RunProgress
from .session import Session, command_line, kept
from .sides import Side, other_side, this_side

NAMES = "AB"


def measure_pairs(measurement: Measurement, against: str, output: Output) -> tuple[Record, Record]:
    """The records of `against` (A) and of the build that would be measured alone (B), whatever happened.

    A goes first in every other pair. Where ranks of one side fail, the other side's starts with as many ranks end as well.
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
    what, failed = runs[0].what, set[int]()
    for launch, group in what.starts:
        first = first_of_pair(launch, len(what.groups))
        for place, which in enumerate((first, 1 - first)):
            _take_turn(runs[which], launch, group, 2 * launch + place, f"{NAMES[which]}: {sides[which].name}", failed)


def _take_turn(run: Session, launch: int, group: Group, number: int, who: str, failed: set[int]) -> None:
    """Ranks that failed once fail again, and a start without its partner tells nothing."""
    if group.ranks in failed:
        run.progress.left_out(number)
        return
    run.progress.starting(number, group.ranks, who)
    if not run.start(launch, group):
        failed.add(group.ranks)
