"""Limits that the MPI itself tells, through its control variables, beside the changes that were seen."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...records import Record
from .changes import LEAST_SIZES, Change
from .curves import Curve

LIMIT = re.compile(r"SIZE|LIMIT|_MSG|THRESHOLD|MAX_SZ", re.IGNORECASE)
OTHER_CALLS = re.compile(r"NEIGHBOR|ALLTOALLW|SEGMENT|SEGSIZE|GPU|CTXID|BATCH|CH3|NEMESIS|IPC|^btl_self|^btl_vader", re.IGNORECASE)  # btl_vader is btl_sm's old name
OF_CALL = {  # of variables that belong to one call, those that can tell about a contender
    "mpi_alltoall": re.compile(r"[^I]ALLTOALL(?!V)", re.IGNORECASE),
    "mpi_alltoall_init": re.compile(r"ALLTOALL(?!V)", re.IGNORECASE),
    "mpi_ialltoall": re.compile(r"IALLTOALL(?!V)", re.IGNORECASE),
    "mpi_alltoallv": re.compile(r"[^I]ALLTOALLV", re.IGNORECASE),
}
COLLECTIVE = re.compile(r"ALLTOALL", re.IGNORECASE)


@dataclass(frozen=True)
class Threshold:
    """A control variable that holds a number of bytes, and the change of the curve that it may explain."""

    name: str
    value: int
    change: Change | None

    @property
    def text(self) -> str:
        """The limit with its name."""
        return f"{self.name} = {self.value}"

    @property
    def of_collective(self) -> bool:
        """Made for this very call, not for messages in general."""
        return bool(COLLECTIVE.search(self.name))


def thresholds(record: Record, curve: Curve, seen: Sequence[Change]) -> list[Threshold]:
    """The limits within the sweep that can concern a contender; several may explain the same change."""
    if len(curve.points) < LEAST_SIZES:
        return []
    told = limits(record, curve)
    inside = {name: value for name, value in told.items() if curve.sizes[0] <= value <= curve.sizes[-1]}
    return [Threshold(name, value, _explained(value, seen)) for name, value in sorted(inside.items(), key=lambda each: each[1])]


def limits(record: Record, curve: Curve) -> dict[str, int]:
    """Limits in bytes that the MPI told in those launches that the curve comes from."""
    found: dict[str, int] = {}
    for launch in record.launches:
        if launch.launch in curve.launches:
            found.update({name: value for name, value in (launch.mpi_cvars or {}).items() if _is_limit(name, value, curve)})
    return found


def _is_limit(name: str, value: object, curve: Curve) -> bool:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        return False
    if not LIMIT.search(name) or OTHER_CALLS.search(name):
        return False
    if not COLLECTIVE.search(name):
        return curve.sends_messages
    call = OF_CALL.get(curve.contender)
    return bool(call and call.search(name))


def _explained(value: int, seen: Sequence[Change]) -> Change | None:
    return next((change for change in seen if change.covers(value)), None)
