"""Row arrays with ghosts, indexed as one: maps, arrays of three layouts, their exchange, copies and files.

Arrays by position in a grid are in `domain`. Each file uses only those before it: map, rows, exchange, storage, files, array, kinds.
"""

from . import padded, ragged  # the kinds of array that GhostArray makes by name

__all__ = ["padded", "ragged"]
