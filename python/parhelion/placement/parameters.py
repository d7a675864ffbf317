"""Parameters of the cost model: latency and bandwidth per level, as `parhelion model fit` writes them."""

import ctypes
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..base.files import read_bounded, write_whole
from ..base.numbers import shortened
from .library import PlacementError

SCHEMA = "parhelion.model/1"
LARGEST = 2**20  # most bytes of a parameter file
ABOVE_ZERO = math.ulp(0.0)


@dataclass(frozen=True)
class Traffic:
    """Messages and bytes of an exchange.

    By level, outermost first: `messages`, the mean number per rank whose outermost boundary is that level's, and `leaving`, the bytes out of the
    level's busiest unit. With aggregation, messages of the outermost level are the busiest node's. `copied`: bytes that the ranks of one memory
    domain send; packing and unpacking share its bandwidth.
    """

    messages: dict[str, float]
    leaving: dict[str, float]
    copied: float


class CCosts(ctypes.Structure):
    _fields_ = (("levels", ctypes.c_char_p), ("message_s", ctypes.POINTER(ctypes.c_double)), ("byte_s", ctypes.POINTER(ctypes.c_double)),
                ("copied_byte_s", ctypes.c_double), ("fixed_s", ctypes.c_double))


@dataclass(frozen=True)
class Parameters:
    """Parameters of a machine with its software.

    `latency_s`: time per message, by the outermost level that it crosses. `bandwidth` (bytes/s): out of one unit of a level, shared by its ranks;
    at the node, the network interface. `copy_bandwidth`: of the ranks of one memory domain. Missing levels cost nothing.

    The time is a sum: an exchange packs, sends and unpacks in sequence.
    """

    name: str
    latency_s: dict[str, float] = field(default_factory=dict)
    bandwidth: dict[str, float] = field(default_factory=dict)
    copy_bandwidth: float = math.inf
    fixed_s: float = 0.0

    def predict(self, traffic: Traffic) -> float:
        """Predicted seconds per exchange."""
        return sum(self.parts(traffic).values())

    def parts(self, traffic: Traffic) -> dict[str, float]:
        """Predicted seconds by cause."""
        messages = sum(self.latency_s.get(level, 0.0) * count for level, count in traffic.messages.items())
        found = {"fixed": self.fixed_s, "messages": messages, "copies": traffic.copied / self.copy_bandwidth}
        for level, size in traffic.leaving.items():
            found[level] = size / self.bandwidth.get(level, math.inf)
        return found

    def c_costs(self) -> CCosts:
        """C structure of the parameters."""
        levels = list(dict.fromkeys([*self.latency_s, *self.bandwidth]))
        array = ctypes.c_double * max(1, len(levels))
        return CCosts(" ".join(levels).encode(), array(*(self.latency_s.get(level, 0.0) for level in levels)),
                      array(*(1 / self.bandwidth.get(level, math.inf) for level in levels)), 1 / self.copy_bandwidth, self.fixed_s)


def write_parameters(parameters: Parameters, path: str | Path, origin: str = "") -> None:
    """Write parameters as JSON; `origin` describes the data of the fit."""
    bandwidth = {level: value for level, value in parameters.bandwidth.items() if math.isfinite(value)}
    copies = parameters.copy_bandwidth if math.isfinite(parameters.copy_bandwidth) else None
    document = {"schema": SCHEMA, "origin": origin, **asdict(parameters), "bandwidth": bandwidth, "copy_bandwidth": copies}
    write_whole(path, json.dumps(document, indent=1).encode() + b"\n")


def read_parameters(path: str | Path) -> Parameters:
    """Read a JSON file of parameters, from `write_parameters` or the user."""
    try:
        document: Any = json.loads(read_bounded(path, LARGEST))
    except OSError as error:
        raise PlacementError(f"cannot read the parameters {path}: it {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise PlacementError(f"cannot read the parameters {path}: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise PlacementError(f"{path} is not of the schema {SCHEMA}: write one with 'parhelion model fit'")

    def figure(what: str, value: Any, above: float = -ABOVE_ZERO) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < 1e300:
            raise PlacementError(f"{path}: {what} is {shortened(str(value))}: give a number {'of at least' if above else 'above'} 0")
        return float(value)

    def figures(key: str, above: float = -ABOVE_ZERO) -> dict[str, float]:
        given = document.get(key) or {}
        if not isinstance(given, dict):
            raise PlacementError(f"{path}: {key} needs a figure for each level, such as {{\"node\": 1e-6}}")
        return {level: figure(f"{key} of {level}", value, above) for level, value in given.items()}

    copies = document.get("copy_bandwidth")
    return Parameters(str(document.get("name", path)), figures("latency_s"), figures("bandwidth", 0),
                      math.inf if copies is None else figure("copy_bandwidth", copies, 0), figure("fixed_s", document.get("fixed_s", 0.0)))
