"""Run one measurement: launch ranks, follow their records, skip what has failed before.

Interleaved A/B alternates launches, so that both sides see the same drift of the machine; with `live`, both launches of a pair run at once
and alternate sample by sample on each core (bench/turns.hpp). Each side of A/B writes its own run; the two runs share the label
`interleaved`, and paired launches the number `pair`. Otherwise all sides write one run.
"""

from __future__ import annotations

import os
import random
import re
import secrets
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import product
from pathlib import Path
from typing import NamedTuple, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ..analyze.words import first_words
from ..errors import InputError
from ..launch import Launch
from ..launch.cores import single_threaded
from ..launch.ending import Ended
from ..launch.jobs import rank_of_launcher
from ..launch.process import Job
from ..machine.installed import built_variants
from ..machine.collect import collect
from ..record.folder import RunFolder
from ..record.model import Case, End, FINISHED, INTERLEAVED, LEFT_OUT, Line, Plan, RecordError, UNAVAILABLE, exit_text
from ..record.read import Record, parse_line, read_record
from .measurement import Measurement, Side

NAMES = "AB"


class Turn(NamedTuple):
    launch: int
    group: int
    side: int


def measure(what: Measurement, console: Console) -> list[Record]:
    """Run all launches; return the records: with `against` those of A and B, else one.

    A signal propagates with a note about the finished cases. Raises `InputError` if the measurement is impossible here.
    """
    run = Run(what, _sides(what), console)
    try:
        with run.progress.bar:
            for number, together in enumerate(run.turns):
                left_out = [run.left_out(turn) for turn in together]
                if any(left_out):
                    run.progress.left_out(number)
                else:
                    run.launch(number, together)
    except Ended as ended:
        for folder in run.runs:
            folder.drop_unfinished_line()
        ended.add_note(f"{run.progress.done} finished cases are kept in {' and '.join(str(folder.path) for folder in run.runs)}")
        raise
    return run.records()


class Run:
    """A measurement in progress. `failed`: final status of a group's ranks on a side, which are not launched again."""

    def __init__(self, what: Measurement, sides: list[Side], console: Console) -> None:
        self.what, self.sides = what, sides
        self.turns = in_pairs(turns(what, len(sides))) if what.live else [[turn] for turn in turns(what, len(sides))]
        notes = self._notes()  # first: without a launcher there is no run
        self.folders = _folders(what, sides)  # per side
        self.runs = list(dict.fromkeys(self.folders))
        self.progress = RunProgress(console, what.benchmark, len(self.turns))
        self.failed: dict[tuple[int, int], End] = {}
        self.lost: list[tuple[RunFolder, End]] = []  # ends that could not be written to a full disk
        for note in notes:
            console.print(note, style="dim", markup=False, soft_wrap=True)

    def records(self) -> list[Record]:
        records = {folder: read_record(folder.path) for folder in self.runs}
        for folder, end in self.lost:
            records[folder].ends.append(end)
        return list(records.values())

    def _notes(self) -> list[str]:
        what, named = self.what, [f"{letter}: {side.name}" for letter, side in zip(NAMES, self.sides)] if self.what.against else []
        notes = dict.fromkeys(note for side in self.sides for note in side.notes(what))
        pairs = f"{what.launches * len(what.groups)} pairs of launches, {'both at once, alternating' if what.live else 'A first in every other one'}, " \
                f"cases in the same order on both sides (seed {what.seed})"
        return [*named, *notes, *([pairs] if what.against else [])]

    def left_out(self, turn: Turn) -> bool:
        """Whether to skip a launch: its ranks, or its partner's, have failed before."""
        partners = range(len(self.sides)) if self.what.against else [turn.side]
        for side in partners:
            if failure := self.failed.get((turn.group, side)):
                of = f" of {NAMES[side]}" if self.what.against else ""
                if failure.status != UNAVAILABLE:  # unavailable cases already have rows
                    self._append(turn, End(turn.launch, f"{LEFT_OUT}the same cases{of} failed in launch {failure.launch + 1}"))
                return True
        if reason := self.sides[turn.side].reason:
            self.failed[turn.group, turn.side] = self._unavailable(turn, reason)
            return True
        return False

    def launch(self, number: int, together: Sequence[Turn]) -> None:
        what, group = self.what, self.what.groups[together[0].group]
        self.progress.starting(number, group.ranks, " and ".join(filter(None, map(self._name, together))))
        with Pipes(together, group.ranks) as pipes, ExitStack() as started:
            parties = [started.enter_context(Party(self, turn, pipes.words(turn))) for turn in together]
            running = {party: party.lines() for party in parties}
            while running:
                for party in list(running):
                    if next(running[party], None) is None:
                        del running[party]
                        pipes.close()
        finished = [party.close() for party in parties]
        turn, coarrays = together[0], what.coarrays
        if coarrays and all(finished) and turn.launch < len(what.groups) and not (what.combined or what.against):
            coarrays.run(self.folders[turn.side], what, turn.launch, group, self.progress)

    def _name(self, turn: Turn) -> str:
        name = self.sides[turn.side].name
        return name if self.what.combined else f"{NAMES[turn.side]}: {name}" if self.what.against else ""

    def _close(self, turn: Turn, why: str, message: str | None, any_case: bool) -> End:
        """Record how a launch ended; a combination without any finished case is unavailable on this machine."""
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
            self.lost.append((folder, end))  # the disk is full
        return end

    def _unavailable(self, turn: Turn, reason: str) -> End:
        """Append a skipped row with the reason for every case and variant; return the launch's end."""
        what, group, side, folder = self.what, self.what.groups[turn.group], self.sides[turn.side], self.folders[turn.side]
        for case, (variant, role) in product(group.cases, self._variants(turn)):
            params = {**case, "ranks": group.ranks, **side.params}
            folder.append(Case(turn.launch, what.benchmark, variant, params, role, verified=False, skipped=reason))
        folder.append(end := End(turn.launch, UNAVAILABLE, f"{side.name}: {reason}"))
        return end

    def _variants(self, turn: Turn) -> list[tuple[str, str]]:
        """Return (variant, role) pairs from the first build that can list them."""
        asked = self.what.variants_of(self.what.groups[turn.group])
        for side in (self.sides[turn.side], *self.sides):
            listed = built_variants(side.build).get(self.what.benchmark, []) if side.build else []
            if chosen := [each for each in listed if each["name"] in asked or not (asked or each.get("only_by_name"))]:
                return [(each["name"], each["role"]) for each in chosen]
        return [(name, "own") for name in asked or ("any",)]


class Party:
    """Ranks and record of one turn. Leaving the context terminates the ranks."""

    def __init__(self, run: Run, turn: Turn, words: list[str]) -> None:
        self.run, self.turn, self.folder = run, turn, run.folders[turn.side]
        what, group, side = run.what, run.what.groups[turn.group], run.sides[turn.side]
        self.finished, self.before = False, run.progress.done
        self.follower = Follower(self.folder.record)
        arguments = [*what.arguments(turn.launch, group, side.params), *words, f"--json={self.folder.record.resolve()}"]
        self.ranks = Ranks(side.launch(what, group, arguments), self.folder.path / f"launch-{turn.launch}.log")

    def __enter__(self) -> Party:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.ranks.__exit__()
        self._note(self.follower.new_lines())
        if isinstance(error, Ended) and not self.finished:
            self.run._append(self.turn, End(self.turn.launch, str(error), None))

    def lines(self) -> Iterator[list[Line]]:
        """Yield new record lines while the ranks run."""
        for lines in self.ranks.lines(self.follower, self.run.what.timeout):
            self._note(lines)
            yield lines

    def close(self) -> bool:
        """Return whether the ranks finished; if not, record how they ended."""
        if not self.finished:
            why = f"no case finished for {self.run.what.timeout:g} s" if self.ranks.idle else self.ranks.ending
            any_case = self.run.progress.done > self.before
            self.run.failed[self.turn.group, self.turn.side] = self.run._close(self.turn, why, self.ranks.message, any_case)
        return self.finished

    def _note(self, lines: list[Line]) -> None:
        self.run.progress.lines(lines)
        self.finished = self.finished or any(isinstance(line, End) and line.status in FINISHED for line in lines)


class Pipes:
    """Named pipes through which two concurrent launches hand over cores (bench/turns.hpp); none for a single launch."""

    def __init__(self, together: Sequence[Turn], ranks: int) -> None:
        self.names = dict(zip(together, ("first", "second"))) if len(together) > 1 else {}
        self.ranks, self.open = ranks, list[int]()

    def __enter__(self) -> Pipes:
        if self.names:
            self.folder = tempfile.TemporaryDirectory(prefix="parhelion-")
            for name, rank in product(self.names.values(), range(self.ranks)):
                pipe = f"{self.folder.name}/{name}.{rank}"
                os.mkfifo(pipe)
                self.open.append(os.open(pipe, os.O_RDWR))
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        if self.names:
            self.folder.cleanup()

    def words(self, turn: Turn) -> list[str]:
        return [f"--turns={self.folder.name}/{self.names[turn]}"] if self.names else []

    def close(self) -> None:
        """Close the pipes: ranks that wait for an ended side then continue at once."""
        while self.open:
            os.close(self.open.pop())


def in_pairs(all_turns: Iterator[Turn]) -> list[list[Turn]]:
    """Pair both sides of each launch."""
    return [[turn, next(all_turns)] for turn in all_turns]


def turns(what: Measurement, sides: int) -> Iterator[Turn]:
    """Yield launches that alternate between groups, so that drift affects all equally; shuffles combinations in each round."""
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
    """Return the side that starts; alternates between pairs of a group, and between groups."""
    return (launch // groups + launch % groups) % 2


def _sides(what: Measurement) -> list[Side]:
    """Return this side, all combinations, or the other build (A) and this one (B). Raises `InputError` if this is impossible here."""
    become_rank(what)
    _has_other(what)
    if not (what.combined or what.against):
        return [Side.here(what)]
    from .sides import sides_of

    return sides_of(what)


def become_rank(what: Measurement, given: Iterable[str] = ()) -> None:
    """If a launcher started this process as a rank, exec the measuring program, which prints columns; with `out` rank 0 writes a record.

    Raises `InputError` if the measurement is impossible, or with options that such a rank cannot serve (`given`).
    """
    here = rank_of_launcher()
    if here is None:
        return
    if names := ", ".join(given):
        raise InputError(f"{names}: under mpiexec or srun, ranks measure once and print columns, or write a record without labels (--out): "
                         "leave it out, or run the command without mpiexec or srun (--launcher says how to start)")
    program, environment = _of_rank(what, here.size)
    if what.out and here.rank == 0:
        print(f"record: {what.out / 'record.jsonl'}", file=sys.stderr, flush=True)
    os.execve(program[0], program, environment)


def _has_other(what: Measurement) -> None:
    if what.live and not what.against:
        raise InputError("--live needs two builds to alternate: add --against, or leave it out")


def _of_rank(what: Measurement, ranks: int | None) -> tuple[list[str], dict[str, str]]:
    group = what.groups[0]
    _has_other(what)
    if what.combined or what.against:
        raise InputError("several builds or networks are measured in launches of their own: run it without mpiexec or srun (--launcher says how to start)")
    if len(what.groups) > 1 or ranks not in (None, group.ranks):
        needed = ", ".join(str(each.ranks) for each in what.groups)
        raise InputError(f"started with {ranks} ranks, but the cases need {needed}: start that many (one number at a time), or run it without mpiexec or srun")
    side = Side.here(what)
    assert side.build
    program, setting = group.program(side.build)
    program += what.arguments(0, group, side.params)
    if what.out:  # if this fails, the measuring program reports it on every rank
        what.out.mkdir(parents=True, exist_ok=True)
        program.append(f"--json={what.out.resolve() / 'record.jsonl'}")
    return program, side.build.environment() | single_threaded(os.environ)[0] | setting


def _folders(what: Measurement, sides: list[Side]) -> list[RunFolder]:
    """Create one run for all sides, or with `against` both runs or none. A given label `image` applies to this side."""
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


LINES_KEPT, LONGEST = 10_000, 12
LOOK_EVERY_S = 0.1
RANK_PREFIX = re.compile(r"^\s*(\[[\w.:/-]*\d[\w.:/, -]*\]|rank\s+\d+:|\d+:)\s*", re.IGNORECASE)
OWN_PREFIX = re.compile(r"^(phl-bench|parhelion(?:\.\w+)?)(\[\d+\])?:\s*(error:\s*)?")
NOISE = re.compile(r"^[=\-|\s]*$|^\|?\s*(PID|=)\s")


class Ranks:
    """Ranks under a launcher; their output goes to `log`. Leaving the context terminates them."""

    def __init__(self, launch: Launch, log: Path) -> None:
        # Also kept in memory: if the disk is full, the log is empty.
        self.said: deque[str] = deque(maxlen=LINES_KEPT)
        self.idle = False
        self._log: TextIO | None = None
        with suppress(OSError):
            self._log = log.open("a", buffering=1, encoding="utf-8", errors="replace")
        try:
            self._job = Job(launch.argv, launch.env, on_line=self._hear, false_start=launch.false_start)
        except OSError as error:
            raise InputError(f"cannot start {launch.argv[0]}: {error.strerror}") from None

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        self._job.end()

    def lines(self, record: Follower, quiet_s: float) -> Iterator[list[Line]]:
        """Yield new record lines until the ranks end, or become `idle`: no line for `quiet_s`."""
        while not self.idle and not self._job.wait(LOOK_EVERY_S):
            yield record.new_lines()
            self.idle = record.quiet_s > quiet_s

    def leave(self, wait_s: float) -> None:
        """Wait for a regular exit."""
        self._job.wait(wait_s)

    @property
    def ending(self) -> str:
        return exit_text(self._job.returncode or 0)

    @property
    def message(self) -> str | None:
        """The ranks' own error messages, else the last distinct lines of output."""
        texts = [RANK_PREFIX.sub("", line).strip() for line in self.said if not NOISE.match(line)]
        own = [OWN_PREFIX.sub("", text) for text in texts if OWN_PREFIX.match(text)]
        return "\n".join([*dict.fromkeys(own or texts)][-LONGEST:]) or None

    def _hear(self, line: str) -> None:
        self.said.append(line)
        try:
            if self._log:
                self._log.write(line + "\n")
        except OSError:
            self._log = None


class Follower:
    """Reads the complete lines that were appended to a record since the last call."""

    def __init__(self, record: Path) -> None:
        self.record = record
        before = record.read_bytes()
        self.position, self.number = len(before), before.count(b"\n")
        self.heard = time.monotonic()

    def new_lines(self) -> list[Line]:
        with self.record.open("rb") as file:
            file.seek(self.position)
            content = file.read()
        finished = content[: content.rfind(b"\n") + 1]
        if finished:
            self.position += len(finished)
            self.heard = time.monotonic()
        return [line for text in finished.splitlines() if (line := self._parse(text)) is not None]

    @property
    def quiet_s(self) -> float:
        return time.monotonic() - self.heard

    def _parse(self, text: bytes) -> Line | None:
        self.number += 1
        return parse_line(text, self.record, self.number)


class RunProgress:
    """Progress bar over the case × variant lines of all launches; estimates future launches from known plans."""

    def __init__(self, console: Console, benchmark: str, launches: int) -> None:
        self.launches = launches
        self.now = self.done = 0
        self.plans: dict[int, int] = {}
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn("elapsed"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[now]}"), console=console, transient=True,
        )
        self.task = self.bar.add_task(f"bench {benchmark}", total=None, now="starting ranks")

    def starting(self, number: int, ranks: int, side: str = "") -> None:
        """Begin launch `number`, counted over all groups and sides."""
        self.now = number
        self.bar.update(self.task, now=f"launch {number + 1} of {self.launches}, {ranks} ranks{side and f', {side}'}")

    def left_out(self, number: int) -> None:
        self._plan(number, 0)

    def lines(self, lines: list[Line]) -> None:
        for line in lines:
            self.done += isinstance(line, Case)
            self._plan(self.now, line.cases if isinstance(line, Plan) else self.plans.get(self.now))

    def _plan(self, number: int, cases: int | None) -> None:
        if cases is not None:
            self.plans[number] = cases
        total = None
        if known := list(self.plans.values()):
            typical = max(known[-1], round(sum(known) / len(known)))
            total = sum(known) + (self.launches - len(known)) * typical
        self.bar.update(self.task, completed=self.done, total=total)
