"""The lines of a record, schema `parhelion.record/1`.

These types are the schema: the published `record.schema.json` is generated from them, and reading a line checks it
against them. Keys that are not listed here are ignored, so that a newer writer can add some.
"""

from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta, Struct, field

from ..errors import InputError

SCHEMA = "parhelion.record/1"
FINISHED = ("ok", 0, 1)  # 1: all cases were measured, some value was wrong
DUET = "duet"  # the label of two runs whose launches took turns; its value tells which two
LEFT_OUT = "not started, because "  # how the status of a launch begins that an earlier one's failure has ended
UNAVAILABLE = "unavailable"  # what was asked for cannot run here; the rows say why

MOST = 2**53  # beyond it a float no longer holds every whole number
MOST_SECONDS = 1e9  # 30 years

Seconds = Annotated[float, Meta(ge=0, le=MOST_SECONDS, description="seconds")]
Nanoseconds = Annotated[float, Meta(ge=0, le=MOST_SECONDS * 1e9, description="nanoseconds")]
Count = Annotated[int, Meta(ge=0, le=MOST)]


class Run(Struct, tag="run"):
    """First line of a record: what was asked for, and on which machine."""

    schema: str
    run: str
    benchmark: str
    created: str = ""
    argv: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)


class OfRanks(TypedDict):
    """One figure over all ranks."""

    mean: NotRequired[Seconds]
    max: Seconds


class Launch(Struct, tag="launch"):
    """One launch: the MPI that ran, the libraries that were loaded, where the ranks were bound.

    `cvars` are environment variables; `mpi_cvars` are what MPI's tool interface tells of alltoall, eager and rendezvous
    messages; `cold_alltoall` holds the first collective call after MPI_Init and the nine after it. `cores` tells, by host, how many
    cores its ranks have between them. `pair` numbers a launch that took turns with one of another build: that one's run has
    the same label `duet`, and its start the same number.
    """

    launch: Count
    ranks: Count
    mpi: dict[str, Any] = field(default_factory=dict)
    mpi_init_s: Seconds | None = None
    libraries: list[Any] = field(default_factory=list)
    binding: list[Any] = field(default_factory=list)
    bound_by: Any = None
    hosts: list[Any] = field(default_factory=list)
    cvars: Any = None
    mpi_cvars: dict[str, Any] | None = None
    cold_alltoall: dict[str, Any] | None = None
    flavor: Any = None
    cores: dict[str, Count] | None = None
    pair: Count | None = None
    imports: dict[str, OfRanks] | None = None


class Plan(Struct, tag="plan"):
    """How many case × contender lines follow in this launch."""

    launch: Count
    cases: Count


class Case(Struct, tag="case"):
    """One contender on one case in one launch.

    `samples` are seconds per exchange, the maximum over ranks; `samples_by_rank` holds every rank's own. A line
    without samples says in `error` or `skipped` why. `skew_s` is the part of each sample in which ranks were apart, some in
    an exchange and others not yet or no longer, and `last_rank` the one that the others waited for most of that.
    Of whole applications `samples` are seconds per step, `exchange_s` what the exchanges of a step took beside each sample (mean
    over ranks, which came together before each exchange), and `exchange_lines` their lines of code.
    `traffic_by_level` holds messages and bytes of all ranks by the innermost level that sender and receiver share: `own_rank` (copies),
    the machine's levels, `other_node`, and, of the node that sends most to others, `busiest_node`.
    """

    launch: Count
    name: str
    contender: str
    params: dict[str, Any] = field(default_factory=dict)
    role: str = "own"
    verified: bool | None = None
    error: str | None = None
    skipped: str | None = None
    setup_s: dict[str, Seconds | None] | None = None
    iterations: Count | None = None
    samples: list[Seconds] = field(default_factory=list)
    exchange_s: list[Seconds] = field(default_factory=list)
    exchange_lines: Count | None = None
    skew_s: list[Seconds] = field(default_factory=list)
    last_rank: list[Count] = field(default_factory=list)
    samples_by_rank: list[list[Seconds]] = field(default_factory=list)
    probe_ns: list[Nanoseconds | None] | None = field(default_factory=list)
    bytes: Count | None = None
    messages: Count | None = None
    traffic_by_level: dict[str, dict[str, Count]] | None = None
    explain: Any = None


class Labels(Struct, tag="labels"):
    """Labels given to a run after it was made; a later line wins over an earlier one."""

    labels: dict[str, str | None]


class End(Struct, tag="end"):
    """The end of a launch; `status` is `ok`, or says how the ranks ended and `message` why."""

    launch: Count
    status: str | int
    message: str | None = None


Line = Run | Launch | Plan | Case | Labels | End


class RecordError(InputError):
    """A record cannot be read or written; the message says which, where in it, and what to do."""
