"""A set of records: one side of a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .results import CaseResult, results
from .remarks import remarks
from ..record.read import Record, read_record
from ..record.model import RecordError
from ..record.read import FILE_NAME
from ..record.store import folders_with


@dataclass(frozen=True)
class RecordSet:
    """One or more runs of the same thing; their launches count alike."""

    name: str
    records: list[Record]

    @property
    def cases(self) -> list[CaseResult]:
        return results(line for record in self.records for line in record.cases)

    @property
    def remarks(self) -> list[str]:
        """What makes the figures of this side doubtful."""
        return list(dict.fromkeys(note for record in self.records for note in remarks(record, results(record.cases))))

    @property
    def launches(self) -> int:
        return sum(len(record.launches) for record in self.records)


def read_set(path: Path) -> RecordSet:
    """The run at `path`, or all runs in the folders right below it; raises `RecordError`."""
    runs = [] if (path / FILE_NAME).exists() else folders_with(FILE_NAME, path)
    if runs:
        return RecordSet(path.name, [read_record(run) for run in runs])
    record = read_record(path)
    return RecordSet(record.labels.get("image") or record.id, [record])


def check_comparable(sets: Sequence[RecordSet]) -> None:
    """Both sides must be of one benchmark."""
    benchmarks = {record.run.benchmark for each in sets for record in each.records}
    if len(benchmarks) > 1:
        raise RecordError(f"cannot compare runs of {' and '.join(sorted(benchmarks))}: give runs of one benchmark")
