"""Row arrays with ghosts, indexed as one: arrays of three layouts, their exchange, copies and files.

Arrays by position in a grid are in `domain`, their maps in `exchange`. Each file uses only those
before it: rows, exchange, storage, files, array, then padded and ragged, its kinds.
"""

from . import padded, ragged  # the kinds of array that GhostArray makes by name

__all__ = ["padded", "ragged"]
