"""Calibration: the parameters with the least relative error, none of them negative."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ...placement import PlacementError
from ...placement.parameters import Parameters
from .traffic import Traffic


@dataclass(frozen=True)
class Fit:
    """Fitted parameters and the relative error at every point that they were fitted to."""

    parameters: Parameters
    errors: tuple[float, ...]


def fit(name: str, traffics: Sequence[Traffic], seconds: Sequence[float]) -> Fit:
    """Non-negative least squares on relative errors: small and large exchanges count alike.

    A level of which the points show no cost of its own gets no figure. Source: Lawson, Hanson: Solving Least Squares Problems, 1974, chapter 23.
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
    """What a time can be made of.

    Few runs cannot tell every level apart. So messages inside a node share one latency, and bytes cost at the node (its
    network interface), at the memory domain, and when copied; other levels get figures only from whoever knows them.
    """
    node, memory = traffics[0].outermost, traffics[0].memory_level
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
