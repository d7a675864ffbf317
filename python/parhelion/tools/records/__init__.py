"""Records of runs: written once, flushed after every case, read back line by line. Keys of lines are those of `model`, which makes the schema.

What lines mean is for `documents` to say.
"""

from .folder import RunFolder
from .model import RecordError
from .read import Record, read_record

__all__ = ["Record", "RecordError", "RunFolder", "read_record"]
