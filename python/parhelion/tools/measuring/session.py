"""One run from its first to its last line."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import msgspec

from ...launch.disk import writing
from ...launch.ending import Ended
from ..cli.output import Output
from ..machine import collect
from ..records import Record, RecordError, RunFolder, read_record
from ..records.model import FINISHED, End, Line
from .follow import Follower
from .launcher import OwnLauncher, Starter, prepare
from .measurement import Combination, Group, Measurement
from .messages import exit_text, first_words, rank_message
from .progress import RunProgress
from .unavailable import write_unavailable

LOOK_EVERY_S = 0.1


@dataclass
class Session:
    """A run while it is measured. `lost`: how starts ended where the disk took no line about it."""

    how: Starter
    folder: RunFolder
    what: Measurement
    progress: RunProgress
    lost: list[End] = field(default_factory=list)


def measure(measurement: Measurement, output: Output) -> Record:
    """Start the ranks as often as asked, following their record; returns what is in it, whatever happened.

    A signal passes through, with a note of where the finished cases are.
    """
    how, measurement = prepare(measurement)
    command, environment = ["parhelion", *sys.argv[1:]], collect()
    folder = RunFolder.create(measurement.benchmark, command, environment, measurement.out, measurement.labels)
    progress = RunProgress(output.errors, measurement.benchmark, len(measurement.starts))
    for note in how.notes(measurement.groups[0]):
        output.errors.print(note, soft_wrap=True, style="dim")
    run = Session(how, folder, measurement, progress)
    try:
        with progress.bar:
            _start_all(run)
    except Ended as ended:
        folder.drop_unfinished_line()
        ended.add_note(f"{progress.done} finished cases are kept in {folder.path}")
        raise
    record = read_record(folder.path)
    record.ends += run.lost
    return record


def _start_all(run: Session) -> None:
    what, failed = run.what, set[tuple[int, Combination | None]]()
    for launch, group in what.starts:
        key = (group.ranks, group.combination)
        if key in failed or not _can_start(run.folder, what, launch, group):
            failed.add(key)  # ranks that failed once fail again: the other groups still get their turn
            run.progress.left_out(launch)
            continue
        run.progress.starting(launch, group.ranks, group.combination)
        if not _start(run, launch, group):
            failed.add(key)
        elif launch < len(what.groups) and isinstance(run.how, OwnLauncher) and not group.combination:
            for companion in what.companions:
                companion.run(run.folder, what, launch, group, run.progress)


def _can_start(folder: RunFolder, what: Measurement, launch: int, group: Group) -> bool:
    """Whether anything speaks against a combination before it was tried; if so, rows with the reason are written."""
    if not group.combination or not group.combination.reason:
        return True
    write_unavailable(folder, what, launch, group, group.combination.reason)
    return False


def _start(run: Session, launch: int, group: Group) -> bool:
    folder, what = run.folder, run.what
    job, log = folder.path / f"job-{launch}.json", folder.path / f"launch-{launch}.log"
    try:
        with writing(job):
            job.write_bytes(msgspec.json.encode(what.job(launch, group)))
    except OSError as error:
        run.lost.append(End(launch, "not started", f"cannot write {job}: {error.strerror}"))
        return False
    follower, before = Follower(folder.record), run.progress.done
    finished = idle = False
    try:
        with run.how.start(group, job, folder.record, log) as ranks:
            while not idle and ranks.running(LOOK_EVERY_S):
                finished = _note(follower.new_lines(), run.progress) or finished
                idle = follower.quiet_s > what.timeout
    except Ended as ended:
        if not _note(follower.new_lines(), run.progress):
            _append_end(run, End(launch, str(ended), None))
        raise
    finished = _note(follower.new_lines(), run.progress) or finished
    if not finished:
        why = f"no case finished for {what.timeout:g} s" if idle else exit_text(ranks.returncode)
        _close(run, launch, group, why, rank_message(ranks.said), any_case=run.progress.done > before)
    return finished


def _note(lines: list[Line], progress: RunProgress) -> bool:
    for line in lines:
        progress.line(line)
    return any(isinstance(line, End) and line.status in FINISHED for line in lines)


def _close(run: Session, launch: int, group: Group, why: str, message: str | None, any_case: bool) -> None:
    """Say how a start ended; a combination that came to no case at all is one that this machine does not have."""
    if group.combination and not any_case:
        run.folder.drop_unfinished_line()
        write_unavailable(run.folder, run.what, launch, group, f"the ranks did not start ({why}): {first_words(message)}")
    else:
        _append_end(run, End(launch, why, message))


def _append_end(run: Session, end: End) -> None:
    try:
        run.folder.drop_unfinished_line()
        run.folder.append(end)
    except (OSError, RecordError):
        run.lost.append(end)  # the disk is full: what is said of the end says so
