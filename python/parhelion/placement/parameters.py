"""Latency and bandwidth per level: what messages and bytes cost (`parhelion model fit` writes them)."""

import ctypes
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ..base.files import read_bounded
from ..base.numbers import shortened
from ..launch.disk import writing
from .library import PlacementError

SCHEMA = "parhelion.model/1"
LARGEST = 2**20  # bytes of a file of parameters


class Traffic(Protocol):
    """Messages and bytes of an exchange by level, as `parhelion.place` counts them."""

    @property
    def messages(self) -> Mapping[str, float]: ...
    @property
    def leaving(self) -> Mapping[str, float]: ...
    @property
    def copied(self) -> float: ...


class CCosts(ctypes.Structure):
    """phl_exchange_costs."""

    _fields_ = (("levels", ctypes.c_char_p), ("message_s", ctypes.POINTER(ctypes.c_double)), ("byte_s", ctypes.POINTER(ctypes.c_double)),
                ("copied_byte_s", ctypes.c_double), ("fixed_s", ctypes.c_double))  # fmt: skip


@dataclass(frozen=True)
class Parameters:
    """A machine with a software on it.

    `latency_s` is the time per message by the outermost level that it crosses; `bandwidth` (bytes/s) what leaves one
    unit of a level, shared by all its ranks: at the node that is its network interface. `copy_bandwidth` is what the
    ranks of one memory domain send together. Levels without an entry cost nothing of their own.

    The parts are added: an exchange packs, sends, and unpacks one after another.
    """

    name: str
    latency_s: dict[str, float] = field(default_factory=dict)
    bandwidth: dict[str, float] = field(default_factory=dict)
    copy_bandwidth: float = math.inf
    fixed_s: float = 0.0

    def predict(self, traffic: Traffic) -> float:
        """Seconds per exchange."""
        return sum(self.parts(traffic).values())

    def parts(self, traffic: Traffic) -> dict[str, float]:
        """The same by cause, in seconds."""
        messages = sum(self.latency_s.get(level, 0.0) * count for level, count in traffic.messages.items())
        found = {"fixed": self.fixed_s, "messages": messages, "copies": traffic.copied / self.copy_bandwidth}
        for level, size in traffic.leaving.items():
            found[level] = size / self.bandwidth.get(level, math.inf)
        return found

    def c_costs(self) -> CCosts:
        """As the library takes them."""
        levels = list(dict.fromkeys([*self.latency_s, *self.bandwidth]))
        array = ctypes.c_double * max(1, len(levels))
        return CCosts(" ".join(levels).encode(), array(*(self.latency_s.get(level, 0.0) for level in levels)),
                      array(*(1 / self.bandwidth.get(level, math.inf) for level in levels)), 1 / self.copy_bandwidth, self.fixed_s)  # fmt: skip


def write_parameters(parameters: Parameters, path: str | Path, origin: str = "") -> None:
    """Write parameters as JSON; `origin` says what they were fitted to."""
    document = {
        "schema": SCHEMA,
        "name": parameters.name,
        "origin": origin,
        "latency_s": parameters.latency_s,
        "bandwidth": {level: value for level, value in parameters.bandwidth.items() if math.isfinite(value)},
        "copy_bandwidth": parameters.copy_bandwidth if math.isfinite(parameters.copy_bandwidth) else None,
        "fixed_s": parameters.fixed_s,
    }
    with writing(path):
        Path(path).write_text(json.dumps(document, indent=1) + "\n")


def read_parameters(path: str | Path) -> Parameters:
    """Read what `write_parameters` wrote, or figures that someone gives in the same form."""
    try:
        document: Any = json.loads(read_bounded(path, LARGEST))
    except OSError as error:
        raise PlacementError(f"cannot read the parameters {path}: it {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise PlacementError(f"cannot read the parameters {path}: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise PlacementError(f"{path} is not of the schema {SCHEMA}: write one with 'parhelion model fit'")
    copies = document.get("copy_bandwidth")
    return Parameters(
        name=str(document.get("name", path)),
        latency_s=_figures(document, "latency_s", path),
        bandwidth=_figures(document, "bandwidth", path, positive=True),
        copy_bandwidth=math.inf if copies is None else _figure(copies, "copy_bandwidth", path, positive=True),
        fixed_s=_figure(document.get("fixed_s", 0.0), "fixed_s", path),
    )


def _figures(document: dict[str, Any], key: str, path: str | Path, positive: bool = False) -> dict[str, float]:
    figures = document.get(key) or {}
    if not isinstance(figures, dict):
        raise PlacementError(f"{path}: {key} needs a figure for each level, such as {{\"node\": 1e-6}}")
    return {level: _figure(value, f"{key} of {level}", path, positive) for level, value in figures.items()}


def _figure(value: Any, what: str, path: str | Path, positive: bool = False) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or value < 0 or (positive and value == 0):
        raise PlacementError(f"{path}: {what} is {shortened(str(value))}: give a number {'above' if positive else 'of at least'} 0")
    return float(value)
