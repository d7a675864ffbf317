"""One run from its first to its last line."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import msgspec

from ...environment import collect
from ...records import Record, RunFolder, read_record
from ...records.document import FINISHED
from ...records.model import End, Line
from ..output import Output
from .follow import Follower
from .launcher import Starter, prepare
from .measurement import Group, Measurement
from .messages import exit_text, rank_message
from .progress import RunProgress

LOOK_EVERY_S = 0.1


def measure(measurement: Measurement, output: Output) -> Record:
    """Start the ranks as often as asked, following their record; returns what is in it, whatever happened."""
    how, measurement = prepare(measurement)
    folder = _create_folder(measurement)
    progress = RunProgress(output.errors, measurement.benchmark, len(measurement.starts))
    for note in how.notes(measurement.most_ranks):
        output.errors.print(note, soft_wrap=True, style="dim")
    failed: set[int] = set()
    with progress.bar:
        for launch, group in measurement.starts:
            if group.ranks in failed:
                continue  # ranks that failed once fail again: the other groups still get their turn
            progress.starting(launch, group.ranks)
            if not _start(how, folder, measurement, launch, group, progress):
                failed.add(group.ranks)
    return read_record(folder.path)


def _create_folder(measurement: Measurement) -> RunFolder:
    return RunFolder.create(
        measurement.benchmark, ["parhelion", *sys.argv[1:]], collect(measurement.most_ranks), measurement.out, measurement.labels
    )


def _start(how: Starter, folder: RunFolder, what: Measurement, launch: int, group: Group, progress: RunProgress) -> bool:
    job, log = folder.path / f"job-{launch}.json", folder.path / f"launch-{launch}.log"
    job.write_bytes(msgspec.json.encode(what.job(launch, group)))
    follower = Follower(folder.record)
    with how.start(group.ranks, job, folder.record, log) as ranks:
        finished = idle = False
        heard = time.monotonic()
        while not idle and ranks.running(LOOK_EVERY_S):
            lines = follower.new_lines()
            heard = time.monotonic() if lines else heard
            idle = time.monotonic() - heard > what.timeout
            finished = _note(lines, progress) or finished
    finished = _note(follower.new_lines(), progress) or finished
    if not finished:
        why = f"no case finished for {what.timeout:g} s" if idle else exit_text(ranks.process.returncode)
        _close(folder, launch, why, log)
    return finished


def _note(lines: list[Line], progress: RunProgress) -> bool:
    for line in lines:
        progress.line(line)
    return any(isinstance(line, End) and line.status in FINISHED for line in lines)


def _close(folder: RunFolder, launch: int, why: str, log: Path) -> None:
    folder.drop_unfinished_line()
    folder.append(End(launch, why, rank_message(log)))
