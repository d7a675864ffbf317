"""Blocks of cells on a periodic process grid, the rows that each rank wants of the others, and the check that they are right."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import parhelion as ph
from mpi4py import MPI

FACES, ALL_FROM_ONE = "faces", "all-from-one"


@dataclass(frozen=True)
class Case:
    """One case as the job tells it, seen from one rank. Rows are numbered block after block, in C order within a block."""

    comm: MPI.Intracomm
    grid: tuple[int, ...]
    extent: int
    vdim: int
    element: str
    pattern: str

    @classmethod
    def read(cls, job: dict[str, Any], comm: MPI.Intracomm) -> "Case":
        """ValueError for a case that these ranks cannot run."""
        grid = tuple(int(side) for side in job["grid"])
        if int(np.prod(grid)) != comm.size:
            raise ValueError(f"the process grid {'x'.join(map(str, grid))} makes {np.prod(grid)} ranks and {comm.size} run: make them agree")
        if job["pattern"] not in (FACES, ALL_FROM_ONE):
            raise ValueError(f"unknown pattern {job['pattern']!r}: use {FACES} or {ALL_FROM_ONE}")
        return cls(comm, grid, int(job["extent"]), int(job["vdim"]), str(job["element"]), job["pattern"])

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.element)

    @property
    def rows(self) -> int:
        """Rows of a block."""
        return self.extent**3

    @property
    def row_bytes(self) -> int:
        return self.vdim * self.dtype.itemsize

    @cached_property
    def claimed(self) -> np.ndarray:
        """Global ids of the rows beyond the six faces, face after face, repeated where the periodic grid is small."""
        return np.concatenate([self._face(axis, side) for axis in range(3) for side in (-1, 1)])

    @cached_property
    def unique(self) -> np.ndarray:
        return np.unique(self.claimed)

    @cached_property
    def wanted(self) -> np.ndarray:
        """The rows that really move: each once, and only those of other ranks; ascending, hence owner after owner."""
        return self.unique[self.unique // self.rows != self.comm.rank]

    @cached_property
    def map(self) -> "ph.GhostMap":
        """Collective the first time."""
        return ph.GhostMap.pull(self.rows, self.wanted, self.comm)

    @cached_property
    def sent(self) -> list[tuple[int, np.ndarray]]:
        """Own rows that each other rank wants, in the order in which it wants them. Collective the first time."""
        owners = self.wanted // self.rows
        asked = self.comm.alltoall([self.wanted[owners == rank] - rank * self.rows for rank in range(self.comm.size)])
        return [(rank, rows) for rank, rows in enumerate(asked) if len(rows)]

    @property
    def sent_bytes(self) -> int:
        return sum(len(rows) for _, rows in self.sent) * self.row_bytes

    @cached_property
    def received(self) -> list[tuple[int, int, int]]:
        """(owner, first row, rows): where the rows of each owner lie behind the own ones."""
        owners, starts = np.unique(self.wanted // self.rows, return_index=True)
        ends = np.append(starts[1:], len(self.wanted)).tolist() if len(starts) else []
        return [(int(rank), self.rows + int(a), b - int(a)) for rank, a, b in zip(owners, starts, ends, strict=True)]

    def params(self) -> dict[str, Any]:
        """Parameters of the case, and how many rows the rank with the most of them claims and moves. Collective."""
        counts = np.array([len(self.claimed), len(self.unique), len(self.wanted)])
        most = np.empty_like(counts)
        self.comm.Allreduce(counts, most, MPI.MAX)
        total = int(self.comm.allreduce(len(self.wanted)))
        return {
            "ranks": self.comm.size, "grid": list(self.grid), "extent": self.extent, "vdim": self.vdim, "element": self.element,
            "pattern": self.pattern, "rows_claimed": int(most[0]), "rows_unique": int(most[1]), "rows_moved": int(most[2]),
            "rows_moved_total": total,
        }  # fmt: skip

    def _face(self, axis: int, side: int) -> np.ndarray:
        """Rows of the neighbor's block that touch this block's face. All from one: of rank 0's, whoever asks."""
        place = list(np.unravel_index(self.comm.rank, self.grid))
        place[axis] = (place[axis] + side) % self.grid[axis]
        owner = 0 if self.pattern == ALL_FROM_ONE else int(np.ravel_multi_index(place, self.grid))
        numbers = np.arange(self.rows).reshape((self.extent,) * 3)
        layer = 0 if side > 0 else self.extent - 1
        return owner * self.rows + np.take(numbers, layer, axis).ravel()


class Skipped(Exception):
    """A contender cannot run here; says why, on every rank alike."""


class Rows:
    """Owned rows, then ghosts, in `array` of shape (rows, vdim). Every value tells its row, its component and the round."""

    def __init__(self, case: Case, array: np.ndarray, ghosts: np.ndarray | None = None) -> None:
        self.case, self.array = case, array
        first = case.comm.rank * case.rows
        self.ids = np.concatenate([np.arange(first, first + case.rows), case.wanted if ghosts is None else ghosts])

    def refresh(self, turn: int) -> None:
        """This round's values into the owned rows, poison into the ghosts."""
        self.array[: self.case.rows] = self._expected(slice(0, self.case.rows), turn)
        self.array[self.case.rows :] = -1

    def count_wrong(self, turn: int) -> int:
        return int(np.count_nonzero(self.array != self._expected(slice(None), turn)))

    def _expected(self, part: slice, turn: int) -> np.ndarray:
        column = np.arange(self.case.vdim)
        return ((self.ids[part, None] * 131 + column * 7 + turn * 17) % 8191).astype(self.array.dtype)


def private_rows(case: Case) -> Rows:
    """In ordinary memory of this process."""
    return Rows(case, np.zeros((case.rows + len(case.wanted), case.vdim), case.dtype))


class Exchange:
    """A contender's way to fill the ghosts of `rows`. Making one is collective, and so is freeing it."""

    rows: Rows
    bytes = messages = 0
    held = False  # whether all ranks must have ended before one may change its rows
    sent: list[tuple[int, np.ndarray]] = []  # the rows of each message

    def run(self, times: int) -> None:
        for _ in range(times):
            self.exchange()

    def exchange(self) -> None:
        raise NotImplementedError

    def traffic(self) -> dict[str, Any]:
        sent = [(rank, len(rows) * self.rows.case.row_bytes) for rank, rows in self.sent]
        return {"bytes": self.bytes, "messages": self.messages, "sent": sent}

    def explain(self) -> Any:
        return None

    def free(self) -> None:
        pass
