"""Latency and bandwidth per level, and what they make of a traffic."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..launch.disk import writing
from ..placement import PlacementError
from .traffic import Traffic

SCHEMA = "parhelion.model/1"


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
        document: dict[str, Any] = json.loads(Path(path).read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise PlacementError(f"cannot read the parameters {path}: {error}") from None
    if document.get("schema") != SCHEMA:
        raise PlacementError(f"{path} is not of the schema {SCHEMA}: write one with 'parhelion model fit'")
    return Parameters(
        name=str(document.get("name", path)),
        latency_s=_figures(document, "latency_s", path),
        bandwidth=_figures(document, "bandwidth", path),
        copy_bandwidth=float(document.get("copy_bandwidth") or math.inf),
        fixed_s=float(document.get("fixed_s", 0.0)),
    )


def _figures(document: dict[str, Any], key: str, path: str | Path) -> dict[str, float]:
    figures = {level: float(value) for level, value in (document.get(key) or {}).items()}
    if any(not value >= 0 for value in figures.values()):
        raise PlacementError(f"{path}: every figure of {key} must be positive")
    return figures
