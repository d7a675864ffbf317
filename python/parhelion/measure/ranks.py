"""Launched ranks, their growing record, and error messages from their output."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ..errors import InputError
from ..launch import Launch
from ..launch.process import Job
from ..record.model import Case, Line, Plan, exit_text
from ..record.read import parse_line

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


def first_words(message: str | None, most: int = 200) -> str:
    """Return the beginning of a message on one line, cut behind a sentence if possible."""
    text = " ".join((message or "they said nothing").split())
    if len(text) <= most:
        return text
    sentence = text[:most].rfind(". ")
    return text[: sentence + 1] if sentence > 0 else text[:most] + "…"
