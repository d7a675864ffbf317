"""Fit of non-negative model parameters with the least relative error, to any exchanges or to a run's records."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from scipy.optimize import nnls

from ..placement import Parameters, PlacementError
from ..placement.placement import each_periodic
from ..record.model import Launch
from ..record.read import Record, read_record
from .traffic import Exchange, Traffic, count, memory_level


@dataclass(frozen=True)
class Fit:
    """Fitted parameters and the relative error at every point."""

    parameters: Parameters
    errors: tuple[float, ...]

    @property
    def median_error(self) -> float:
        return float(np.median(np.abs(self.errors)))

    def document(self, errors: Sequence[float] | None = None) -> dict[str, Any]:
        figures = {key: value for key, value in asdict(self.parameters).items() if value != math.inf}
        return {"parameters": figures, "fitted": len(self.errors), "errors": list(self.errors if errors is None else errors)}


def fit(name: str, traffics: Sequence[Traffic], seconds: Sequence[float]) -> Fit:
    """Non-negative least squares on relative errors, which weight small and large exchanges equally.

    Levels without visible cost get no parameter. Source: Lawson, Hanson: Solving Least Squares Problems, 1974, chapter 23.
    """
    if not traffics or len(traffics) != len(seconds):
        raise PlacementError(f"{len(traffics)} exchanges with {len(seconds)} times cannot be fitted: give both for each")
    if min(seconds) <= 0:
        raise PlacementError("a time of zero or less cannot be fitted: leave it out")
    causes = _causes(traffics)
    times = np.asarray(seconds, float)
    matrix = np.array([[amount(t) for amount in causes.values()] for t in traffics]) / times[:, None]
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    solution, _ = nnls(matrix / scale, np.ones(len(times)))
    costs = dict(zip(causes, solution / scale, strict=True))
    parameters = _parameters(name, costs, list(traffics[0].leaving))
    errors = [parameters.predict(t) / s - 1 for t, s in zip(traffics, seconds, strict=True)]
    return Fit(parameters, tuple(errors))


Cause = Callable[[Traffic], float]


def _causes(traffics: Sequence[Traffic]) -> dict[tuple[str, str], Cause]:
    """Terms of the model.

    Few runs cannot distinguish all levels. So messages inside a node share one latency, and bytes cost at the node (its network interface), at
    the memory domain, and when copied. Other levels need parameters from the user.
    """
    node, memory = next(iter(traffics[0].leaving)), memory_level(traffics[0].leaving)
    causes: dict[tuple[str, str], Cause] = {
        ("message", "inside"): lambda t: sum(n for level, n in t.messages.items() if level != node),
        ("copy", ""): lambda t: t.copied,
    }
    if any(t.leaving[node] for t in traffics):
        causes["message", node] = lambda t: t.messages[node]
        causes["byte", node] = lambda t: t.leaving[node]
    if memory != node:
        causes["byte", memory] = lambda t: t.leaving[memory]
    return causes


def _parameters(name: str, costs: dict[tuple[str, str], float], levels: Sequence[str]) -> Parameters:
    inside = costs.get(("message", "inside"), 0.0)
    latency = {level: costs.get(("message", level), inside) for level in levels}
    return Parameters(
        name=name,
        latency_s={level: float(cost) for level, cost in latency.items() if cost > 0},
        bandwidth={level: float(1 / cost) for (cause, level), cost in costs.items() if cause == "byte" and cost > 0},
        copy_bandwidth=float(1 / costs["copy", ""]) if costs["copy", ""] > 0 else math.inf,
    )


Element = Literal["float32", "float64", "int8", "int16", "int32", "int64", "complex64", "complex128"]


class HaloCase(msgspec.Struct):
    grid: tuple[int, ...]
    extent: tuple[int, ...]
    halo: int
    fields: int
    element: Element
    components: int = 1
    neighbors: str = "full"
    periodic: bool | tuple[bool, ...] = True

    def exchange(self, variant: str) -> Exchange:
        if variant in ("staged", "hand_staged") or variant.startswith("by_dimension:"):
            algorithm = "by_dimension"
        else:
            algorithm = "node_aware" if "node_aware" in variant else "standard"
        width = np.dtype(self.element).itemsize * self.components
        return Exchange(self.extent, self.halo, self.fields, width, algorithm, faces_only=self.neighbors == "faces")


def fit_records(paths: Sequence[Path], variant: str) -> Fit:
    points = [point for path in paths for point in record_points(read_record(path), variant)]
    if not points:
        raise PlacementError(f"no verified halo case of '{variant}' is in {', '.join(map(str, paths))}")
    return fit(variant, [traffic for traffic, _ in points], [seconds for _, seconds in points])


def record_points(record: Record, variant: str) -> Iterator[tuple[Traffic, float]]:
    launches = {launch.launch: launch for launch in record.launches}
    for case in record.cases:
        if case.variant != variant or not case.samples or not case.verified or "grid" not in case.params:
            continue
        try:
            halo = msgspec.convert(case.params, HaloCase)
            if len(halo.extent) != len(halo.grid):
                raise ValueError(f"extent {halo.extent} and grid {halo.grid} differ in their number of dimensions")
            units = rank_units(launches[case.launch], halo.grid)
            yield count(units, halo.exchange(variant), each_periodic(halo.periodic, len(halo.grid))), float(np.median(case.samples))
        except (ValueError, KeyError) as error:
            raise PlacementError(f"{record.path}: a case of {variant} in launch {case.launch} cannot be used: {error}") from None


def rank_units(launch: Launch, grid: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Node and core of every grid point as launched, last dimension fastest."""
    ranks = math.prod(grid)
    if len(launch.hosts) != ranks:
        raise ValueError(f"{len(launch.hosts)} hosts are named for {ranks} ranks")
    nodes = np.unique(launch.hosts, return_inverse=True)[1]
    bound = len(launch.binding) == ranks and all(launch.binding)
    cores = np.unique([f"{node} {cores}" for node, cores in zip(nodes, launch.binding, strict=True)], return_inverse=True)[1] if bound else np.arange(ranks)
    return {"node": nodes.reshape(grid), "core": cores.reshape(grid)}
