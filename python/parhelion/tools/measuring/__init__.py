"""From cases to a finished record: write the job, start the ranks, follow the record. Nothing here measures."""

from .measurement import Group, Measurement
from .session import measure

__all__ = ["Group", "Measurement", "measure"]
