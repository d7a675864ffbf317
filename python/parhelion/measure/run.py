"""One measurement from its first launch to its last: ranks are started, their record is followed, what failed is not started again.

Interleaved A/B takes turns launch by launch, so that whatever the machine does meanwhile meets both sides (Bulej et al., "Duet Benchmarking",
ICPE 2020, run both at once; ranks that need all cores cannot). Each side writes a run of its own; both have the same label `interleaved`, and
launches of a pair the same number `pair`. All other sides write one run.
"""

import random
import secrets
import sys
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from rich.console import Console

from ..launch.ending import Ended
from ..machine.builds import built_variants
from ..machine.collect import collect
from ..record.folder import RunFolder
from ..record.model import Case, End, FINISHED, INTERLEAVED, LEFT_OUT, Line, RecordError, UNAVAILABLE
from ..record.read import Record, read_record
from .measurement import Measurement
from .ranks import Follower, Ranks, RunProgress, first_words
from .sides import Side, sides_of

NAMES = "AB"


class Turn(NamedTuple):
    launch: int
    group: int
    side: int


def measure(what: Measurement, console: Console) -> list[Record]:
    """Launch as often as asked; returns what has been recorded, whatever happened: with `against`, the records of A and B, else one.

    A signal passes through, with a note of where the finished cases are. Raises `InputError` for what cannot be measured so.
    """
    run = Run(what, sides_of(what), console)
    try:
        with run.progress.bar:
            for number, turn in enumerate(run.turns):
                if run.left_out(turn):
                    run.progress.left_out(number)
                else:
                    run.launch(number, turn)
    except Ended as ended:
        for folder in run.runs:
            folder.drop_unfinished_line()
        ended.add_note(f"{run.progress.done} finished cases are kept in {' and '.join(str(folder.path) for folder in run.runs)}")
        raise
    return run.records()


class Run:
    """A measurement under way. `failed`: how the ranks of a group ended on a side, where they are started no more."""

    def __init__(self, what: Measurement, sides: list[Side], console: Console) -> None:
        self.what, self.sides = what, sides
        self.turns = list(turns(what, len(sides)))
        self.folders = _folders(what, sides)  # of each side
        self.runs = list(dict.fromkeys(self.folders))
        self.progress = RunProgress(console, what.benchmark, len(self.turns))
        self.failed: dict[tuple[int, int], End] = {}
        self.lost: list[tuple[RunFolder, End]] = []  # ends that the disk took no line about
        for note in self._notes():
            console.print(note, style="dim", markup=False, soft_wrap=True)

    def records(self) -> list[Record]:
        records = {folder: read_record(folder.path) for folder in self.runs}
        for folder, end in self.lost:
            records[folder].ends.append(end)
        return list(records.values())

    def _notes(self) -> list[str]:
        what, named = self.what, [f"{letter}: {side.name}" for letter, side in zip(NAMES, self.sides)] if self.what.against else []
        notes = dict.fromkeys(note for side in self.sides for note in side.notes(what))
        pairs = f"{len(self.turns) // 2} pairs of launches, A first in every other one, cases in the same order on both sides (seed {what.seed})"
        return [*named, *notes, *([pairs] if what.against else [])]

    def left_out(self, turn: Turn) -> bool:
        """Ranks that failed once fail again, and a launch without its partner tells nothing."""
        partners = range(len(self.sides)) if self.what.against else [turn.side]
        for side in partners:
            if failure := self.failed.get((turn.group, side)):
                of = f" of {NAMES[side]}" if self.what.against else ""
                if failure.status != UNAVAILABLE:  # that has its rows
                    self._append(turn, End(turn.launch, f"{LEFT_OUT}the same cases{of} failed in launch {failure.launch + 1}"))
                return True
        if reason := self.sides[turn.side].reason:
            self.failed[turn.group, turn.side] = self._unavailable(turn, reason)
            return True
        return False

    def launch(self, number: int, turn: Turn) -> None:
        what, group, side = self.what, self.what.groups[turn.group], self.sides[turn.side]
        name = side.name if what.combined else f"{NAMES[turn.side]}: {side.name}" if what.against else ""
        self.progress.starting(number, group.ranks, name)
        folder, before = self.folders[turn.side], self.progress.done
        launch = side.launch(what, group, [*what.arguments(turn.launch, group, side.params), f"--json={folder.record.resolve()}"])
        follower = Follower(folder.record)
        finished = False
        try:
            with Ranks(launch, folder.path / f"launch-{turn.launch}.log") as ranks:
                for lines in ranks.lines(follower, what.timeout):
                    finished = self._note(lines) or finished
        except Ended as ended:
            if not self._note(follower.new_lines()):
                self._append(turn, End(turn.launch, str(ended), None))
            raise
        if not (self._note(follower.new_lines()) or finished):
            why = f"no case finished for {what.timeout:g} s" if ranks.idle else ranks.ending
            self.failed[turn.group, turn.side] = self._close(turn, why, ranks.message, any_case=self.progress.done > before)
        elif what.coarrays and turn.launch < len(what.groups) and not (what.combined or what.against):
            what.coarrays.run(folder, what, turn.launch, group, self.progress)

    def _note(self, lines: list[Line]) -> bool:
        self.progress.lines(lines)
        return any(isinstance(line, End) and line.status in FINISHED for line in lines)

    def _close(self, turn: Turn, why: str, message: str | None, any_case: bool) -> End:
        """Say how a launch ended; a combination that came to no case at all is one that this machine does not have."""
        if self.what.combined and not any_case:
            self.folders[turn.side].drop_unfinished_line()
            return self._unavailable(turn, f"the ranks did not start ({why}): {first_words(message)}")
        return self._append(turn, End(turn.launch, why, message))

    def _append(self, turn: Turn, end: End) -> End:
        folder = self.folders[turn.side]
        try:
            folder.drop_unfinished_line()
            folder.append(end)
        except (OSError, RecordError):
            self.lost.append((folder, end))  # the disk is full: what is said of the end says so
        return end

    def _unavailable(self, turn: Turn, reason: str) -> End:
        """A row with the reason for every case and variant that cannot be measured; returns the end of the launch."""
        what, group, side, folder = self.what, self.what.groups[turn.group], self.sides[turn.side], self.folders[turn.side]
        for case, (variant, role) in product(group.cases, self._variants(turn)):
            params = {**case, "ranks": group.ranks, **side.params}
            folder.append(Case(turn.launch, what.benchmark, variant, params, role, verified=False, skipped=reason))
        folder.append(end := End(turn.launch, UNAVAILABLE, f"{side.name}: {reason}"))
        return end

    def _variants(self, turn: Turn) -> list[tuple[str, str]]:
        """With their roles, as the first build tells that can."""
        asked = self.what.variants_of(self.what.groups[turn.group])
        for side in (self.sides[turn.side], *self.sides):
            listed = built_variants(side.build).get(self.what.benchmark, []) if side.build else []
            if chosen := [each for each in listed if each["name"] in asked or not (asked or each.get("only_by_name"))]:
                return [(each["name"], each["role"]) for each in chosen]
        return [(name, "own") for name in asked or ("any",)]


def turns(what: Measurement, sides: int) -> Iterator[Turn]:
    """Groups take turns, so that a drift meets all of them, and so do combinations, in an order drawn anew for each round."""
    groups = range(len(what.groups))
    if what.against:
        for launch, group in enumerate([*groups] * what.launches):
            first = first_of_pair(launch, len(groups))
            yield from (Turn(launch, group, side) for side in (first, 1 - first))
        return
    launch = 0
    for number in range(what.launches):
        order = [(group, side) for group in groups for side in range(sides)]
        if what.combined:
            random.Random(f"{what.seed}/order/{number}").shuffle(order)
        for group, side in order:
            yield Turn(launch, group, side)
            launch += 1


def first_of_pair(launch: int, groups: int) -> int:
    """Which side goes first: for each group of cases it changes from pair to pair, and with the groups."""
    return (launch // groups + launch % groups) % 2


def _folders(what: Measurement, sides: list[Side]) -> list[RunFolder]:
    """All in one run; with `against` two runs, or none. A label `image` that was given is this side's."""
    command = ["parhelion", *sys.argv[1:]]
    if not what.against:
        return [RunFolder.create(what.benchmark, command, collect(), what.out, what.labels)] * len(sides)
    common, made = {**what.labels, INTERLEAVED: secrets.token_hex(4)}, list[RunFolder]()
    named = ({**common, "image": sides[0].name}, {"image": sides[1].name, **common})
    try:
        for letter, side, labels in zip(NAMES, sides, named, strict=True):
            environment, out = side.environment or collect(), what.out / letter if what.out else None
            made.append(RunFolder.create(what.benchmark, command, environment, out, labels))
    except RecordError:
        for folder in made:
            folder.record.unlink(missing_ok=True)
        raise
    return made
