"""Records of runs: written once, flushed after every case, read by everything that tabulates, draws or compares."""

from .errors import RecordError
from .folder import RunFolder
from .read import Record, read_record
from .results import CaseResult, Entry, results

__all__ = ["CaseResult", "Entry", "Record", "RecordError", "RunFolder", "read_record", "results"]
