"""Line types of a record, schema `parhelion.record/1`.

Readers validate each line against these types and ignore unknown keys, so that newer writers can add keys.
`python -m parhelion.record.model > docs/record.schema.json` writes the published schema.
"""

import math
import re
import signal
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

import msgspec
from msgspec import Meta, Struct, field

from ..base.numbers import shortened
from ..errors import InputError

if TYPE_CHECKING:
    import numpy as np

SCHEMA = "parhelion.record/1"
FINISHED = ("ok", 0, 1)  # 1: all cases ran, a value was wrong
INTERLEAVED = "interleaved"  # label of two runs with alternating launches; both have the same value
LEFT_OUT = "not started, because "  # status prefix of launches skipped after a failed launch
UNAVAILABLE = "unavailable"  # the request cannot run here; the cases give the reason

MOST = 2**53  # floats represent all integers up to here
MOST_SECONDS = 1e9  # 30 years

Seconds = Annotated[float, Meta(ge=0, le=MOST_SECONDS, description="seconds")]
Nanoseconds = Annotated[float, Meta(ge=0, le=MOST_SECONDS * 1e9, description="nanoseconds")]
Count = Annotated[int, Meta(ge=0, le=MOST)]


class Run(Struct, tag="run"):
    """First line of a record: the request and the machine."""

    schema: str
    run: str
    benchmark: str
    created: str = ""
    argv: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)


class OfRanks(TypedDict):
    """A time over all ranks."""

    mean: NotRequired[Seconds]
    max: Seconds


class Launch(Struct, tag="launch"):
    """One launch: MPI, loaded libraries, binding of ranks.

    `cvars` are environment variables; `mpi_cvars` are MPI's control variables of alltoall, eager and rendezvous messages, from its tool
    interface. `cold_alltoall` holds the first collective call after MPI_Init and the next nine. `cores` maps each host to the number of
    its ranks' cores. `pair` numbers the pairs of interleaved launches; both runs of a pair have the same label `interleaved`.
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
    build: Any = None
    cores: dict[str, Count] | None = None
    pair: Count | None = None
    imports: dict[str, OfRanks] | None = None
    energy: str | None = None


class Plan(Struct, tag="plan"):
    """Number of case × variant lines that follow in this launch."""

    launch: Count
    cases: Count


class Case(Struct, tag="case"):
    """One variant on one case in one launch.

    `samples` are seconds per exchange, maximum over ranks; `samples_by_rank` holds each rank's. Without samples, `error` or `skipped`
    gives the reason. `skew_s` is the part of each sample with only some ranks in the exchange; `last_rank` is the rank that the others
    wait for most.
    For whole applications, `samples` are seconds per step, `exchange_s` the time of a step's exchanges beside each sample (mean over
    ranks, which synchronize before each exchange), `exchange_lines` their lines of code.
    `phases_s` maps `post_recv`, `post_send`, `wait_recv` and `wait_send` to seconds per exchange beside each sample, mean over ranks.
    `energy_j` is the energy of all nodes' processors per exchange in joules, mean over samples, including idle parts.
    `traffic_by_level` holds messages and bytes of all ranks by the innermost level that sender and receiver share: `own_rank` (copies),
    the machine's levels, `other_node`; `busiest_node` holds the outgoing traffic of the node that sends most.
    """

    launch: Count
    name: str
    variant: str
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
    energy_j: Annotated[float, Meta(ge=0, le=MOST_SECONDS)] | None = None
    phases_s: dict[str, list[Seconds]] = field(default_factory=dict)
    skew_s: list[Seconds] = field(default_factory=list)
    last_rank: list[Count] = field(default_factory=list)
    samples_by_rank: list[list[Seconds]] = field(default_factory=list)
    probe_ns: list[Nanoseconds | None] | None = field(default_factory=list)
    bytes: Count | None = None
    messages: Count | None = None
    traffic_by_level: dict[str, dict[str, Count]] | None = None
    explain: Any = None

    @property
    def probes(self) -> "np.ndarray":
        """Probe beside each sample in ns, NaN if unknown."""
        import numpy as np

        told = self.probe_ns or []
        return np.array(told if len(told) == len(self.samples) else [None] * len(self.samples), dtype=float)


class Labels(Struct, tag="labels"):
    """Changes of a run's labels; later lines win."""

    labels: dict[str, str | None]


class End(Struct, tag="end"):
    """End of a launch: `status` is `ok` or the ranks' exit status, `message` the reason."""

    launch: Count
    status: str | int
    message: str | None = None


Line = Run | Launch | Plan | Case | Labels | End


def exit_text(code: int) -> str:
    """Describe an exit code; launchers report a signal as 128 + its number."""
    number = -code if code < 0 else code - 128
    if code < 0 or 128 < code < 160:
        try:
            return f"killed by {signal.Signals(number).name}"
        except ValueError:
            pass
    return f"exit status {code}"


class RecordError(InputError):
    """A record cannot be read or written."""


Sides = Annotated[list[Annotated[int, Meta(ge=1, le=MOST)]], Meta(min_length=1, max_length=4)]
MOST_DEPTH = 8


class Params(Struct):
    """Types of the case parameters that analyses use."""

    ranks: Count = 0
    grid: Sides = []
    extent: Count | Sides = 0
    halo: Count = 0
    fields: Count = 0
    components: Count = 0
    size: Count = 0
    vdim: Count = 0
    rows_claimed: Count = 0
    rows_unique: Count = 0
    rows_moved: Count = 0
    rows_moved_total: Count = 0
    element: str = ""
    dataset: str = ""
    pattern: str = ""
    neighbors: str = ""
    order: str = ""
    transport: str = ""
    seam: str = ""
    periodic: bool | list[bool] = False


class Cold(Struct):
    """The first collective call after MPI_Init."""

    size: Count = 0
    first_s: Seconds = 0.0


def complaint(line: Any) -> str | None:
    """Return the first violation of a constraint that the types do not express, or `None`."""
    if isinstance(line, Case):
        if any(len(samples) != len(line.samples) for samples in line.samples_by_rank):
            return "samples_by_rank and samples differ in length"
        if {len(line.skew_s), len(line.last_rank)} not in ({0}, {len(line.samples)}):
            return "skew_s, last_rank and samples differ in length"
        if any(len(seconds) != len(line.samples) for seconds in line.phases_s.values()):
            return "phases_s and samples differ in length"
        return _unfit("params", line.params, Params) or _too_deep("params", line.params)
    if isinstance(line, Launch):
        return _unfit("cold_alltoall", line.cold_alltoall or {}, Cold) or _too_deep("the launch", line.mpi)
    return None


def _unfit(where: str, told: dict[str, Any], form: type[Params] | type[Cold]) -> str | None:
    for name in (each for each in form.__struct_fields__ if each in told):
        try:
            msgspec.convert({name: told[name]}, form)
        except msgspec.ValidationError as error:
            return f"{name} in {where} is {shortened(str(told[name]))}: {error}"
        if isinstance(told[name], list) and name != "periodic" and math.prod(told[name]) > MOST:
            return f"{name} in {where} is {shortened(str(told[name]))}: more than {MOST} in all"
    return None


def _too_deep(where: str, value: Any, depth: int = MOST_DEPTH) -> str | None:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if depth == 0:
        return f"{where} is nested deeper than {MOST_DEPTH} levels"
    return next((why for each in inner if (why := _too_deep(where, each, depth - 1))), None)


Facts = list[tuple[str, str]]
LONG_LIST = 40
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_|$)")  # UCX_TLS, OMPI_MCA_btl, PATH


def flatten(value: Any, prefix: str = "") -> Facts:
    """Flatten `{"cpu": {"model": "X"}}` to `("cpu model", "X")`; omits unknown and empty values."""
    if isinstance(value, dict):
        return [fact for key, each in value.items() for fact in flatten(each, f"{prefix} {_word(key)}".strip())]
    if value is None or value in ([], ""):
        return []
    return [(prefix, _text(value))]


def _word(key: Any) -> str:
    return str(key) if VARIABLE.match(str(key)) else str(key).replace("_", " ")


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        shown = value[:LONG_LIST]
        return "\n".join(shown) + (f"\n… and {len(value) - LONG_LIST} more" if len(value) > LONG_LIST else "")
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def record_schema() -> dict[str, Any]:
    schema = msgspec.json.schema(Line)
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA}
    return {**title, "description": "Each line of record.jsonl is one of these objects.", **schema}


def schema_text() -> str:
    return msgspec.json.format(msgspec.json.encode(record_schema()), indent=2).decode() + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
