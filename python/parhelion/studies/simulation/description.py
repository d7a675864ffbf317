"""The simulated machine as text, and the host of every rank."""

from __future__ import annotations

import math

import numpy as np

from ...placement import Machine, Numbering, Placement
from ..model import Parameters
from ..model.traffic import memory_level


def machine_text(machine: Machine, figures: Parameters) -> str:
    """Levels with parts, bandwidth and latency, as studies/simulation/platform.cpp reads them.

    A unit hangs on its parent by one link each way. Levels without figures of their own are left out: their parts
    become parts of the level around them. Of a message's latency each of its two ends gets half.
    """
    levels, lines = machine.levels, []
    latency = {level: figures.latency_s.get(level, 0.0) for level in levels}
    parts = 1
    for index, level in enumerate(levels):
        parts *= machine.units(level) // (machine.units(levels[index - 1]) if index else 1)
        inner = latency[levels[index + 1]] if index + 1 < len(levels) else 0.0
        own = max(latency[level] - inner, 0.0) / 2
        bandwidth = figures.bandwidth.get(level, math.inf)
        innermost = index + 1 == len(levels)
        if index and not innermost and math.isinf(bandwidth) and own == 0.0:
            continue
        lines.append(f"level {level} {parts} {bandwidth if math.isfinite(bandwidth) else 'inf'} {own}\n")
        parts = 1
    return "".join(lines)


def hosts(placement: Placement, numbering: str = "") -> list[str]:
    """The host of every rank: n<node>.<core>."""
    by_rank = np.argsort(Numbering(placement.grid, numbering).ranks().ravel())
    innermost = placement.machine.levels[-1]
    nodes = placement.units("node").ravel()[by_rank]
    cores = placement.units(innermost, within_node=True).ravel()[by_rank]
    return [f"n{node}.{core}" for node, core in zip(nodes.tolist(), cores.tolist(), strict=True)]


def copy_seconds_per_byte(machine: Machine, figures: Parameters) -> float:
    """What packing and unpacking cost one rank per byte sent, while all ranks of its memory domain do the same."""
    ranks = machine.size / machine.units(memory_level(machine.levels))
    return ranks / figures.copy_bandwidth
