"""A run over several MPIs and networks, as rows of combinations and columns of cases."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...style.words import size_text
from ..params import in_order, some, text, varying
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


@dataclass(frozen=True)
class Matrix:
    """Combinations down, cases across; `contender` is the one whose times are shown."""

    contender: str
    columns: list[str]
    rows: list[MatrixRow]

    @property
    def ran(self) -> int:
        return sum(not row.reason for row in self.rows)


def matrix(cases: Sequence[CaseResult]) -> Matrix | None:
    """Rows in the order of names, many cases thinned out to a few columns; `None` where cases do not tell MPI and network."""
    if not any(all(name in case.params for name in OF_COMBINATION) for case in cases):
        return None
    names = contenders(cases)
    leader = next((name for name in LEADERS if name in names), names[0] if names else "")
    parameters = [parameter for parameter in varying(cases) if parameter not in OF_COMBINATION]
    labels = some(list(dict.fromkeys(_label(case, parameters) for case in in_order(cases))), MOST_COLUMNS)
    by_place = {(_place(case), _label(case, parameters)): case for case in cases}
    places = sorted(dict.fromkeys(map(_place, cases)))
    rows = [_row(place, [by_place.get((place, label)) for label in labels], leader, cases) for place in places]
    return Matrix(leader, labels, rows)


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
