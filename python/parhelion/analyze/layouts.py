"""Results in the layout of the published image test; and a run over several MPIs and networks as rows of combinations."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..record.read import Record
from ..record.model import Launch
from .summary import mean_std
from .words import size_text
from .params import in_order, some, text, varying
from .results import CaseResult, Entry, contenders

CONTENDER = "mpi_alltoall"
MICRO = 1e6
WORDS = ("image", "network", "reservation", "notes")
FIGURES = ("ranks", "size", "first call", "first of this size", "later calls")


@dataclass(frozen=True)
class PublishedRow:
    """One image on one network at one size; times in µs as `mean(std)`, empty where there is none.

    `first_call` is the very first collective call after MPI_Init, over launches; `first_of_size` the first with
    this size in ranks that are connected already; `later_calls` all samples.
    """

    image: str
    network: str
    reservation: str
    notes: str
    ranks: int
    size: int
    first_call: str
    first_of_size: str
    later_calls: str

    def words(self) -> list[str]:
        """The row of a table with the columns `WORDS`, then `FIGURES`."""
        figures = (self.first_call, self.first_of_size, self.later_calls)
        told = (self.image, self.network, self.reservation, self.notes, str(self.ranks), size_text(self.size), *figures)
        return [word or "–" for word in told]


def published_rows(record: Record, cases: Sequence[CaseResult]) -> list[PublishedRow]:
    """A row per case, by image, network, ranks and size; times of MPI's own call, or of the first contender there is."""
    if record.run.benchmark != "alltoall":
        return []
    rows = [_published_row(record, case, entry) for case in cases if (entry := _timed(case))]
    return sorted(rows, key=lambda row: (row.image, row.network, row.ranks, row.size))


def _timed(case: CaseResult) -> Entry | None:
    timed = [entry for entry in case.entries.values() if entry.median and "size" in entry.params]
    return next((entry for entry in timed if entry.contender == CONTENDER), timed[0] if timed else None)


def _published_row(record: Record, case: CaseResult, entry: Entry) -> PublishedRow:
    numbers = {line.launch for line in entry.lines}
    launches = [launch for launch in record.launches if launch.launch in numbers]
    first_of_size = [line.setup_s["first"] for line in entry.lines if line.setup_s and line.setup_s.get("first") is not None]
    labels = record.labels
    return PublishedRow(
        image=_image(record, case, launches),
        network=str(case.params.get("network") or labels.get("network") or "default"),
        reservation=labels.get("reservation", ""),
        notes=labels.get("notes", ""),
        ranks=int(case.params.get("ranks", 0)),
        size=int(case.params["size"]),
        first_call=_told(_cold(launches, case.params["size"])),
        first_of_size=_told([seconds for seconds in first_of_size if seconds is not None]),
        later_calls=_told([sample for samples in entry.launches for sample in samples]),
    )


def _image(record: Record, case: CaseResult, launches: Sequence[Launch]) -> str:
    """What the user called it; else the MPI, for that is what an image differs in."""
    named = [record.labels.get("image"), case.params.get("mpi")]
    told = " ".join(str(name) for name in named if name)
    return told or next((mpi_name(launch) for launch in launches), "unknown")


def mpi_name(launch: Launch) -> str:
    """The MPI library in a few words."""
    lines = str(launch.mpi.get("library_version") or "unknown MPI").replace("\t", " ").strip().splitlines() or ["unknown MPI"]
    first = lines[0].partition(",")[0]
    return " ".join(first.replace("Version:", "").replace("Library", "").split())


def _cold(launches: Sequence[Launch], size: int) -> list[float]:
    cold = [launch.cold_alltoall for launch in launches if launch.cold_alltoall]
    return [each["first_s"] for each in cold if each.get("size") == size and each.get("verified") and "first_s" in each]


def _told(seconds: Sequence[float]) -> str:
    return mean_std([value * MICRO for value in seconds]) if seconds else ""


OF_COMBINATION = ("mpi", "network")
MOST_COLUMNS = 8
LEADERS = ("mpi_alltoall", "auto", "mpi")


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
