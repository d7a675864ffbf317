"""Records of runs: written once, flushed after every case, read back line by line. What lines mean is for `documents` to say."""

from .errors import RecordError
from .folder import RunFolder
from .read import Record, read_record

__all__ = ["Record", "RecordError", "RunFolder", "read_record"]
