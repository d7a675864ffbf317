"""Schedules of halo exchanges in GOAL, LogGOPSim's input language (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010).

Each rank packs (`calc`), sends, receives and unpacks. Independent statements may overlap, as in `Exchange`.

    rank 0 {
    l1: calc 1638
    l2: send 16384b to 1 tag 0
    l2 requires l1
    l3: recv 16384b from 1 tag 1
    l4: calc 1638
    l4 requires l3
    }
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..base.files import write_whole
from ..placement import PlacementError
from ..placement.placement import each_periodic
from .traffic import Exchange

NOBODY = -1
ABSENT, OWN, OTHER = range(3)  # kinds of neighbors
ALIGNMENT = 16  # of each field in a message (message_alignment in src/plan/layout.hpp)


class Message(NamedTuple):
    stage: int
    step: tuple[int, ...]
    part: int  # bytes of one field, with all ghosts


@dataclass(frozen=True)
class Schedule:
    """Consecutive `exchanges` on a process grid with ranks in row-major order; copies take `copy_ns_per_byte`."""

    grid: tuple[int, ...]
    exchange: Exchange
    periodic: bool | tuple[bool, ...] = True
    exchanges: int = 1
    copy_ns_per_byte: float = 0.1

    def __post_init__(self) -> None:
        if self.exchange.algorithm == "node_aware":
            raise PlacementError("GOAL schedules cannot combine messages per pair of nodes: use --algorithm standard or by_dimension")
        if len(self.exchange.cells) != len(self.grid):
            raise PlacementError(f"the process grid has {len(self.grid)} dimensions, but the extent has {len(self.exchange.cells)}: make them equal")
        for dimension, cells in enumerate(self.exchange.cells):
            if self.exchange.halo > cells:
                raise PlacementError(f"halo width {self.exchange.halo} exceeds the extent {cells} in dimension {dimension}: GOAL schedules reach only the next rank; use a narrower halo")

    @property
    def ranks(self) -> int:
        return math.prod(self.grid)

    @cached_property
    def messages(self) -> list[Message]:
        """Messages, stage by stage; offsets to the same neighbor share one. In a dimension of one rank, ghosts are local copies."""
        merged: dict[tuple[int, tuple[int, ...]], int] = {}
        wraps = each_periodic(self.periodic, len(self.grid))
        for step, size in replace(self.exchange, fields=1).offsets():
            stage = next(d for d, s in enumerate(step) if s) if self.exchange.algorithm == "by_dimension" else 0
            around = any(s and extent == 1 and periodic for s, extent, periodic in zip(step, self.grid, wraps))
            short = tuple(0 if around else s % 2 if extent == 2 and periodic else s for s, extent, periodic in zip(step, self.grid, wraps))
            merged[stage, short] = merged.get((stage, short), 0) + size
        return [Message(stage, step, size) for (stage, step), size in merged.items()]

    def sizes(self) -> np.ndarray:
        """Bytes of each rank's messages (one row: of all ranks). Dimension by dimension, ranks at ends have no ghosts beyond them to pass on."""
        parts, halo = np.array([[message.part for message in self.messages]]), self.exchange.halo
        if self.exchange.algorithm == "by_dimension":
            parts, wraps = np.repeat(parts, self.ranks, 0), each_periodic(self.periodic, len(self.grid))
            for axis, (place, cells) in enumerate(zip(np.indices(self.grid).reshape(len(self.grid), -1), self.exchange.cells)):
                ends = 0 if wraps[axis] else (place == 0).astype(int) + (place == self.grid[axis] - 1)
                later = [message.stage > axis for message in self.messages]
                parts = np.where(later, parts * np.reshape(cells + halo * (2 - ends), (-1, 1)) // (cells + 2 * halo), parts)
        return parts + (self.exchange.fields - 1) * (-(-parts // ALIGNMENT) * ALIGNMENT)

    def neighbors(self) -> tuple[np.ndarray, np.ndarray]:
        """Receiver and sender of each rank's messages; NOBODY at ends, the rank itself for periodic copies."""
        places = np.arange(self.ranks).reshape(self.grid)
        wraps = each_periodic(self.periodic, len(self.grid))
        found: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for message in self.messages:
            for ranks, sign in zip(found, (1, -1)):
                shifted = np.roll(places, [-sign * s for s in message.step], range(len(self.grid)))
                for axis, (extent, s) in enumerate(zip(self.grid, message.step)):
                    place = np.arange(extent) + sign * s
                    beyond = ((place < 0) | (place >= extent)) & (not wraps[axis])
                    shifted = np.where(beyond.reshape([-1 if d == axis else 1 for d in range(len(self.grid))]), NOBODY, shifted)
                ranks.append(shifted.ravel())
        return np.array(found[0]).T, np.array(found[1]).T

    def totals(self, ranks_per_node: int | None = None) -> dict[str, Any]:
        """Messages and bytes of one exchange: over all ranks, of the busiest rank, and out of the busiest node of consecutive ranks."""
        to, sizes = self.neighbors()[0], self.sizes()
        own = np.arange(self.ranks)[:, None]
        sent = (to != NOBODY) & (to != own)
        told = {"ranks": self.ranks, "messages": int(sent.sum()), "bytes": int((sent * sizes).sum()),
                "messages_of_busiest_rank": int(sent.sum(axis=1).max()), "bytes_of_busiest_rank": int((sent * sizes).sum(axis=1).max())}
        if ranks_per_node:
            leaves = sent & (to // ranks_per_node != own // ranks_per_node)
            counts = [np.bincount(own[:, 0] // ranks_per_node, weights=each.sum(axis=1)) for each in (leaves, leaves * sizes)]
            told |= {"nodes": len(counts[0]), "messages_of_busiest_node": int(counts[0].max()), "bytes_of_busiest_node": int(counts[1].max())}
        return told

    def lines(self) -> Iterator[str]:
        """Lines of the file. Ranks with the same kinds of neighbors share a template."""
        yield f"num_ranks {self.ranks}\n"
        templates: dict[bytes, _Template] = {}
        sizes = self.sizes()
        for rank, ranks in enumerate(np.stack(self.neighbors(), axis=1)):
            kinds = np.select([ranks == NOBODY, ranks == rank], [ABSENT, OWN], OTHER)
            template = templates.get(kinds.tobytes()) or templates.setdefault(kinds.tobytes(), self._template(sizes[rank % len(sizes)].tolist(), *kinds))
            yield template.text % (rank, *ranks[template.places].tolist())

    def _template(self, sizes: Sequence[int], to: np.ndarray, by: np.ndarray) -> _Template:
        writer = _Writer(self.copy_ns_per_byte)
        for _ in range(self.exchanges):
            for stage in sorted({message.stage for message in self.messages}):
                writer.stage([(number, sizes[number]) for number, message in enumerate(self.messages) if message.stage == stage], to, by)
        return _Template("rank %d {\n" + "".join(writer.text) + "}\n", (writer.directions, writer.numbers))


class _Template(NamedTuple):
    text: str
    places: tuple[list[int], list[int]]  # of rank numbers in the text: direction (0 to, 1 from) and number of the message


class _Writer:
    """Statements of one rank. The packs of a stage require the end of the previous stage."""

    def __init__(self, ns_per_byte: float) -> None:
        self.text: list[str] = []
        self.directions: list[int] = []
        self.numbers: list[int] = []
        self._labels, self._before, self._ns_per_byte = 0, list[int](), ns_per_byte

    def stage(self, messages: Sequence[tuple[int, int]], to: np.ndarray, by: np.ndarray) -> None:
        done: list[int] = []
        for number, size in messages:
            if to[number] != ABSENT:
                packed = self._copy(size, self._before)
                done.append(packed if to[number] == OWN else self._message("send", "to", number, size, [packed]))
        for number, size in messages:
            if by[number] == OTHER:
                done.append(self._copy(size, [self._message("recv", "from", number, size, self._before)]))
        self._before = [self._add("calc 0", done)]

    def _copy(self, size: int, after: Sequence[int]) -> int:
        return self._add(f"calc {round(size * self._ns_per_byte)}", after)

    def _message(self, verb: str, preposition: str, number: int, size: int, after: Sequence[int]) -> int:
        self.directions.append(int(verb == "recv"))
        self.numbers.append(number)
        return self._add(f"{verb} {size}b {preposition} %d tag {number}", after)

    def _add(self, statement: str, after: Sequence[int]) -> int:
        self._labels += 1
        self.text.append(f"l{self._labels}: {statement}\n")
        self.text += [f"l{self._labels} requires l{label}\n" for label in after]
        return self._labels


def write(schedule: Schedule, file: Path) -> None:
    """Write the schedule; about 1 GB for a million ranks with six neighbors."""
    write_whole(file, map(str.encode, schedule.lines()))
