"""One run from its first to its last line."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import msgspec

from ..cli.output import Output
from ..machine import collect
from ..records import Record, RunFolder, read_record
from ..records.model import FINISHED, Case, End, Line
from .combination import Combination
from .follow import Follower
from .launcher import OwnLauncher, Starter, prepare
from .measurement import Group, Measurement
from .messages import exit_text, first_words, rank_message
from .progress import RunProgress
from .unavailable import write_unavailable

LOOK_EVERY_S = 0.1


def measure(measurement: Measurement, output: Output) -> Record:
    """Start the ranks as often as asked, following their record; returns what is in it, whatever happened."""
    how, measurement = prepare(measurement)
    folder = _create_folder(measurement)
    progress = RunProgress(output.errors, measurement.benchmark, len(measurement.starts))
    for note in how.notes(measurement.groups[0]):
        output.errors.print(note, soft_wrap=True, style="dim")
    failed: set[tuple[int, Combination | None]] = set()
    with progress.bar:
        for launch, group in measurement.starts:
            key = (group.ranks, group.combination)
            if key in failed or not _can_start(folder, measurement, launch, group):
                failed.add(key)  # ranks that failed once fail again: the other groups still get their turn
                progress.left_out(launch)
                continue
            progress.starting(launch, group.ranks, group.combination)
            if not _start(how, folder, measurement, launch, group, progress):
                failed.add(key)
            elif launch < len(measurement.groups) and isinstance(how, OwnLauncher) and not group.combination:
                for companion in measurement.companions:
                    companion.run(folder, measurement, launch, group, progress)
    return read_record(folder.path)


def _can_start(folder: RunFolder, what: Measurement, launch: int, group: Group) -> bool:
    """Whether anything speaks against a combination before it was tried; if so, rows with the reason are written."""
    if not group.combination or not group.combination.reason:
        return True
    write_unavailable(folder, what, launch, group, group.combination.reason)
    return False


def _create_folder(measurement: Measurement) -> RunFolder:
    return RunFolder.create(
        measurement.benchmark, ["parhelion", *sys.argv[1:]], collect(measurement.most_ranks), measurement.out, measurement.labels
    )


def _start(how: Starter, folder: RunFolder, what: Measurement, launch: int, group: Group, progress: RunProgress) -> bool:
    job, log = folder.path / f"job-{launch}.json", folder.path / f"launch-{launch}.log"
    job.write_bytes(msgspec.json.encode(what.job(launch, group)))
    follower = Follower(folder.record)
    with how.start(group, job, folder.record, log) as ranks:
        finished = idle = any_case = False
        heard = time.monotonic()
        while not idle and ranks.running(LOOK_EVERY_S):
            lines = follower.new_lines()
            heard = time.monotonic() if lines else heard
            idle = time.monotonic() - heard > what.timeout
            finished = _note(lines, progress) or finished
            any_case = any_case or any(isinstance(line, Case) for line in lines)
    lines = follower.new_lines()
    finished = _note(lines, progress) or finished
    any_case = any_case or any(isinstance(line, Case) for line in lines)
    if not finished:
        why = f"no case finished for {what.timeout:g} s" if idle else exit_text(ranks.process.returncode)
        _close(folder, what, launch, group, why, log, any_case)
    return finished


def _note(lines: list[Line], progress: RunProgress) -> bool:
    for line in lines:
        progress.line(line)
    return any(isinstance(line, End) and line.status in FINISHED for line in lines)


def _close(folder: RunFolder, what: Measurement, launch: int, group: Group, why: str, log: Path, any_case: bool) -> None:
    """Say how a start ended; a combination that came to no case at all is one that this machine does not have."""
    folder.drop_unfinished_line()
    message = rank_message(log)
    if group.combination and not any_case:
        write_unavailable(folder, what, launch, group, f"the ranks did not start ({why}): {first_words(message)}")
    else:
        folder.append(End(launch, why, message))
