"""Index maps: which global indices each rank owns, and which it reads from others. Plain data."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RankMap:
    """One rank's part: it owns `first … first+owned-1` and reads `ghosts` (ascending) from others.

    Global indices start at 0. `keys[i]` names owned index first+i in terms of the mesh file (cell
    number, point number, or sorted point numbers); None when the data set does not say.
    """

    rank: int
    ranks: int
    size: int
    first: int
    owned: int
    ghosts: np.ndarray
    keys: np.ndarray | None = None


@dataclass(frozen=True)
class IndexMaps:
    """The maps of all ranks: blocks of `owned[r]` indices in rank order, `ghosts[r]` ascending.

    `keys` (size × width, or None) names every global index in terms of the mesh file.
    """

    owned: np.ndarray
    ghosts: tuple[np.ndarray, ...]
    entities: str = "unknown"
    keys: np.ndarray | None = None

    @property
    def ranks(self) -> int:
        return len(self.owned)

    @property
    def size(self) -> int:
        return int(self.owned.sum())

    @property
    def key_width(self) -> int:
        """How many words name an index; 0 when the data set does not say."""
        return 0 if self.keys is None else self.keys.shape[1]

    @property
    def starts(self) -> np.ndarray:
        """First global index of each rank, and `size` at the end."""
        return np.concatenate([[0], np.cumsum(self.owned, dtype=np.int64)])

    def owner_of(self, indices: np.ndarray) -> np.ndarray:
        """The rank that owns each global index."""
        return np.searchsorted(self.starts, indices, side="right") - 1

    def sources(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """The ranks that own ghosts of `rank`, ascending, and how many each of them owns."""
        return np.unique(self.owner_of(self.ghosts[rank]), return_counts=True)

    def rank(self, rank: int) -> RankMap:
        """One rank's part."""
        first, end = (int(start) for start in self.starts[rank : rank + 2])
        keys = None if self.keys is None else self.keys[first:end]
        return RankMap(rank, self.ranks, self.size, first, end - first, self.ghosts[rank], keys)
