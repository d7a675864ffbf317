"""Reading a record while it grows."""

from __future__ import annotations

import time
from pathlib import Path

from ..records.model import Line
from ..records.read import parse_line


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
