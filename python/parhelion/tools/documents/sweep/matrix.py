"""A run over several MPIs and networks, as rows of combinations and columns of cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...style.words import size_text
from ..params import in_order, text, varying
from ..results import CaseResult, Entry, contenders

OF_COMBINATION = ("mpi", "network")
MOST_COLUMNS = 8
LEADERS = ("mpi_alltoall", "auto", "mpi_persistent")


@dataclass(frozen=True)
class MatrixRow:
    """One combination: the leading contender of each case, or the reason why there is none."""

    mpi: str
    network: str
    entries: list[Entry | None]
    reason: str | None


def is_matrix(cases: Sequence[CaseResult]) -> bool:
    """Whether cases tell the MPI and the network that they ran under."""
    return any(all(name in case.params for name in OF_COMBINATION) for case in cases)


def leader(cases: Sequence[CaseResult]) -> str:
    """The contender that stands for a case in one column."""
    names = contenders(cases)
    return next((name for name in LEADERS if name in names), names[0] if names else "")


def matrix_title(benchmark: str, rows: Sequence[MatrixRow]) -> str:
    """The name of the benchmark, and how many combinations ran."""
    who = next((entry.contender for row in rows for entry in row.entries if entry), "")
    return f"{benchmark}, {who}: {sum(not row.reason for row in rows)} of {len(rows)} combinations ran"


def matrix_rows(cases: Sequence[CaseResult]) -> tuple[list[MatrixRow], list[str]]:
    """Rows in the order of names, and the columns' titles; many cases are thinned out to a few columns."""
    name = leader(cases)
    names = [parameter for parameter in varying(cases) if parameter not in OF_COMBINATION]
    labels = list(dict.fromkeys(_label(case, names) for case in in_order(cases)))
    labels = _thinned(labels)
    by_place = {(_place(case), _label(case, names)): case for case in cases}
    places = sorted(dict.fromkeys(map(_place, cases)))
    rows = [_row(place, [by_place.get((place, label)) for label in labels], name, cases) for place in places]
    return rows, labels


def _row(place: tuple[str, str], cases: list[CaseResult | None], name: str, every: Sequence[CaseResult]) -> MatrixRow:
    entries = [case.entries.get(name) if case else None for case in cases]
    mine = [entry for case in every if _place(case) == place for entry in case.entries.values()]
    reason = None if any(entry.ran for entry in mine) else next((entry.skipped for entry in mine if entry.skipped), None)
    return MatrixRow(*place, entries, reason)


def _place(case: CaseResult) -> tuple[str, str]:
    return text(case.params.get("mpi")), text(case.params.get("network"))


def _label(case: CaseResult, names: Sequence[str]) -> str:
    values = [size_text(value) if name == "size" else f"{name} {text(value)}" for name in names
              if (value := case.params.get(name)) is not None]  # fmt: skip
    return ", ".join(values) or case.name


def _thinned(labels: list[str]) -> list[str]:
    if len(labels) <= MOST_COLUMNS:
        return labels
    return [labels[round(place * (len(labels) - 1) / (MOST_COLUMNS - 1))] for place in range(MOST_COLUMNS)]
