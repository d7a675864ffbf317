"""The rows that a contender works on, and whether they hold what they must."""

import numpy as np

from .case import Case


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
