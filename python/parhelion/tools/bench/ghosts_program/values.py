"""What all contenders have in common: the rows that they work on, and the check that these hold what they must."""

from typing import Any

import numpy as np

from .case import Case


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

    def run(self, times: int) -> None:
        for _ in range(times):
            self.exchange()

    def exchange(self) -> None:
        raise NotImplementedError

    def traffic(self) -> tuple[int, int]:
        return self.bytes, self.messages

    def explain(self) -> Any:
        return None

    def free(self) -> None:
        pass
