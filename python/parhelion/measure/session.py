"""One run from its first to its last line."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..errors import InputError
from ..launch.ending import Ended
from ..cli.errors import BAD_INPUT
from ..show.terminal import Output
from ..machine.collect import collect
from ..machine.builds import built_contenders
from ..record.read import Record, read_record
from ..record.model import RecordError
from ..record.folder import RunFolder
from ..record.model import Case, End, FINISHED, LEFT_OUT, Line, UNAVAILABLE
from .launcher import OuterLauncher, OwnLauncher, Starter, prepare
from .measurement import Group, Measurement
from ..record.model import exit_text
from .ranks import Follower, RunProgress, first_words, rank_message

LOOK_EVERY_S = 0.1


@dataclass
class Session:
    """A run while it is measured. `lost`: how launches ended where the disk took no line about it; `failed`: how groups ended,
    by their place in the measurement, that are started no more."""

    how: Starter
    folder: RunFolder
    what: Measurement
    progress: RunProgress
    lost: list[End] = field(default_factory=list)
    failed: dict[int, End] = field(default_factory=dict)

    def start(self, launch: int, group: Group) -> bool:
        """Start the ranks once and follow their record; whether they came to their end. A signal passes through."""
        end = self._run(launch, group)
        if end:
            self.failed[self.what.groups.index(group)] = end
        return end is None

    def failure_of(self, group: Group) -> End | None:
        """How the ranks of this group failed; what fails once fails again."""
        return self.failed.get(self.what.groups.index(group))

    def leave_out(self, launch: int, failure: End, whose: str = "the same cases") -> None:
        """Say that a launch does not happen, because of an earlier one."""
        if failure.status != UNAVAILABLE:  # that has its rows
            self._append_end(End(launch, f"{LEFT_OUT}{whose} failed in launch {failure.launch + 1}"))

    def _run(self, launch: int, group: Group) -> End | None:
        """How the ranks failed, or None."""
        log = self.folder.path / f"launch-{launch}.log"
        follower, before = Follower(self.folder.record), self.progress.done
        finished = idle = False
        try:
            with self.how.start(group, self.what.arguments(launch, group), self.folder.record, log) as ranks:
                while not idle and ranks.running(LOOK_EVERY_S):
                    finished = self._note(follower.new_lines()) or finished
                    idle = follower.quiet_s > self.what.timeout
        except Ended as ended:
            if not self._note(follower.new_lines()):
                self._append_end(End(launch, str(ended), None))
            raise
        if self._note(follower.new_lines()) or finished:
            return None
        why = f"no case finished for {self.what.timeout:g} s" if idle else exit_text(ranks.returncode)
        return self._close(launch, group, why, rank_message(ranks.said), any_case=self.progress.done > before)

    def record(self) -> Record:
        """What has been measured, and how each launch ended."""
        record = read_record(self.folder.path)
        record.ends += self.lost
        return record

    def _note(self, lines: list[Line]) -> bool:
        for line in lines:
            self.progress.line(line)
        return any(isinstance(line, End) and line.status in FINISHED for line in lines)

    def _close(self, launch: int, group: Group, why: str, message: str | None, any_case: bool) -> End:
        """Say how a launch ended; a combination that came to no case at all is one that this machine does not have."""
        if group.combination and not any_case:
            self.folder.drop_unfinished_line()
            return write_unavailable(self.folder, self.what, launch, group, f"the ranks did not start ({why}): {first_words(message)}")
        return self._append_end(End(launch, why, message))

    def _append_end(self, end: End) -> End:
        try:
            self.folder.drop_unfinished_line()
            self.folder.append(end)
        except (OSError, RecordError):
            self.lost.append(end)  # the disk is full: what is said of the end says so
        return end


def measure(measurement: Measurement, output: Output) -> Record:
    """Start the ranks as often as asked, following their record; returns what is in it, whatever happened.

    A signal passes through, with a note of where the finished cases are.
    """
    how, measurement = prepare(measurement)
    if not isinstance(how, OuterLauncher):
        return _measure(how, measurement, output)
    try:
        return _measure(how, measurement, output)
    except InputError as error:
        # Told first: launchers end all ranks when one of them fails.
        print(f"Error: {error}", file=sys.stderr, flush=True)
        sys.exit(BAD_INPUT)
    finally:
        how.release()


def _measure(how: Starter, measurement: Measurement, output: Output) -> Record:
    folder = RunFolder.create(measurement.benchmark, command_line(), collect(), measurement.out, measurement.labels)
    progress = RunProgress(output.errors, measurement.benchmark, len(measurement.starts))
    for note in how.notes(measurement.groups[0]):
        output.errors.print(note, soft_wrap=True, style="dim")
    run = Session(how, folder, measurement, progress)
    with kept([run]), progress.bar:
        _start_all(run)
    return run.record()


def command_line() -> list[str]:
    return ["parhelion", *sys.argv[1:]]


@contextmanager
def kept(runs: Sequence[Session]) -> Iterator[None]:
    """What a signal interrupts inside leaves records that can be read; says where the finished cases are."""
    try:
        yield
    except Ended as ended:
        for run in runs:
            run.folder.drop_unfinished_line()
        ended.add_note(f"{runs[0].progress.done} finished cases are kept in {' and '.join(str(run.folder.path) for run in runs)}")
        raise


def _start_all(run: Session) -> None:
    what = run.what
    for launch, group in what.starts:
        reason = group.combination and group.combination.reason
        if failure := run.failure_of(group):
            run.leave_out(launch, failure)
        elif reason:
            end = write_unavailable(run.folder, what, launch, group, reason)
            run.failed[what.groups.index(group)] = end
        else:
            _start(run, launch, group)
            continue
        run.progress.left_out(launch)


def _start(run: Session, launch: int, group: Group) -> None:
    what = run.what
    run.progress.starting(launch, group.ranks, group.combination)
    first = launch < len(what.groups) and isinstance(run.how, OwnLauncher)
    if run.start(launch, group) and first and not group.combination:
        for companion in what.companions:
            companion.run(run.folder, what, launch, group, run.progress)


def write_unavailable(folder: RunFolder, what: Measurement, launch: int, group: Group, reason: str) -> End:
    """A row with the reason for every case and contender that cannot be measured; returns the end of the launch."""
    for case in group.cases:
        params = {**case, "ranks": group.ranks, **group.params()}
        for contender, role in _contenders(what, group):
            folder.append(Case(launch, what.benchmark, contender, params, role, verified=False, skipped=reason))
    folder.append(end := End(launch, UNAVAILABLE, f"{group.combination}: {reason}"))
    return end


def _contenders(what: Measurement, group: Group) -> list[tuple[str, str]]:
    asked = what.contenders_of(group)
    flavors = [other.combination.flavor for other in (group, *what.groups) if other.combination]
    for flavor in filter(None, flavors):
        listed = built_contenders(flavor).get(what.benchmark, [])
        chosen = [each for each in listed if each["name"] in asked or not (asked or each.get("only_by_name"))]
        if chosen:
            return [(each["name"], each["role"]) for each in chosen]
    return [(name, "own") for name in asked or ("any",)]
