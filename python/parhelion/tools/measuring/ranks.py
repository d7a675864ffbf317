"""The started ranks, which can always be stopped, and their record while it grows."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

from ...launch import Launch
from ...launch.process import Job
from ..cli.errors import BadInput
from ..records.model import Line
from ..records.read import parse_line

LINES_KEPT = 10_000


class Ranks:
    """Ranks under a launcher; what they print goes to `log`. A context: leaving it stops what still runs."""

    def __init__(self, launch: Launch, log: Path, own_session: bool = True) -> None:
        # Kept here too: where the disk is full, the log is empty, and only this tells why the ranks ended.
        self.said: deque[str] = deque(maxlen=LINES_KEPT)
        try:
            self._log = log.open("a", buffering=1, encoding="utf-8", errors="replace")
        except OSError:
            self._log = None
        try:
            self._job = Job(launch.argv, launch.env, on_line=self._hear, false_start=launch.false_start, own_session=own_session)
        except OSError as error:
            raise BadInput(f"cannot start {launch.argv[0]}: {error.strerror}") from None

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        self._job.end()

    @property
    def returncode(self) -> int | None:
        """How the launcher ended, negative after a signal; None while anything runs."""
        return self._job.returncode

    def running(self, wait_s: float) -> bool:
        """Wait for up to `wait_s` and tell whether the ranks still run."""
        return not self._job.wait(wait_s)

    def _hear(self, line: str) -> None:
        self.said.append(line)
        try:
            if self._log:
                self._log.write(line + "\n")
        except OSError:
            self._log = None


class Follower:
    """Gives the lines that were finished since the last look; an unfinished one waits for its end."""

    def __init__(self, record: Path) -> None:
        self.record = record
        self.position = record.stat().st_size
        self.number = 0
        self.heard = time.monotonic()

    def new_lines(self) -> list[Line]:
        """The finished lines since the last call."""
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
        """How long no line has come."""
        return time.monotonic() - self.heard

    def _parse(self, text: bytes) -> Line | None:
        self.number += 1
        return parse_line(text, self.record, self.number)
