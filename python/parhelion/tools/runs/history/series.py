"""The figures of a store as series over time: one per benchmark, case, contender and build."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...comparing.comparison import identity
from ...documents.results import CaseResult, results
from ...records import Record


@dataclass(frozen=True)
class Series:
    """One figure over runs, the oldest first; `seconds` are the medians of runs whose values were right."""

    benchmark: str
    case: CaseResult
    contender: str
    flavor: str
    records: list[Record] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def logs(self) -> np.ndarray:
        """Logarithms of seconds, so that differences are ratios."""
        return np.log(np.maximum(self.seconds, 1e-12))


def series_of(records: Sequence[Record], wanted: Callable[[CaseResult, str], bool]) -> list[Series]:
    """All series with the cases and contenders that are `wanted`."""
    found: dict[tuple[str, bytes, str, str], Series] = {}
    for record in sorted(records, key=lambda each: (each.run.created, each.id)):
        benchmark, flavor = record.run.benchmark, str(next((launch.flavor for launch in record.launches), None) or "")
        for case in results(record.cases):
            for entry in case.entries.values():
                if entry.median and wanted(case, entry.contender):
                    key = (benchmark, identity(case.params), entry.contender, flavor)
                    series = found.setdefault(key, Series(benchmark, case, entry.contender, flavor))
                    series.records.append(record)
                    series.seconds.append(entry.median)
    return list(found.values())
