"""Calibration from a run's own records: where ranks were, what they exchanged, how long it took."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...placement import PlacementError
from ...tools.records import Record, read_record
from ...tools.records.model import Case, Launch
from .exchange import Exchange
from .fit import Fit, fit
from .traffic import Traffic, count

STAGED = ("staged", "hand_staged")
ELEMENTS = ("float32", "float64", "int8", "int16", "int32", "int64", "complex64", "complex128")


def fit_records(paths: list[Path], contender: str) -> Fit:
    """One fit to every halo case of a contender in these runs. Raises PlacementError where there is none."""
    points = [point for path in paths for point in record_points(read_record(path), contender)]
    if not points:
        raise PlacementError(f"no verified halo case of '{contender}' is in {', '.join(map(str, paths))}")
    return fit(contender, [traffic for traffic, _ in points], [seconds for _, seconds in points])


def record_points(record: Record, contender: str) -> Iterator[tuple[Traffic, float]]:
    """Traffic and median seconds of each case line of a contender."""
    launches = {launch.launch: launch for launch in record.launches}
    for case in record.cases:
        if case.contender == contender and case.samples and case.verified and "grid" in case.params:
            if case.launch not in launches:
                raise PlacementError(f"{record.path} names launch {case.launch} in a case, but does not describe it")
            units = rank_units(launches[case.launch], case)
            yield count(units, case_exchange(case), _periodic(case)), float(np.median(case.samples))


def rank_units(launch: Launch, case: Case) -> dict[str, np.ndarray]:
    """Node and core of every grid point, as the ranks were really started; the last dimension is numbered fastest."""
    grid = tuple(case.params["grid"])
    ranks = int(np.prod(grid))
    if len(launch.hosts) != ranks:
        raise PlacementError(f"the record's launch {launch.launch} names {len(launch.hosts)} hosts for {ranks} ranks")
    nodes = _numbered(launch.hosts)
    units = {"node": nodes.reshape(grid)}
    if len(launch.binding) == ranks and all(launch.binding):
        units["core"] = _numbered(list(zip(nodes.tolist(), map(str, launch.binding), strict=True))).reshape(grid)
    else:
        units["core"] = np.arange(ranks).reshape(grid)
    return units


def case_exchange(case: Case) -> Exchange:
    """What a halo case exchanges."""
    params = case.params
    missing = [name for name in ("element", "extent", "halo", "fields") if name not in params]
    if missing or params["element"] not in ELEMENTS:
        raise PlacementError(f"a case of {case.contender} in launch {case.launch} does not tell its {', '.join(missing) or 'element'}")
    if not isinstance(params["extent"], list) or len(params["extent"]) != len(params["grid"]):
        raise PlacementError(f"a case of {case.contender} in launch {case.launch} has an extent of another dimension than its grid")
    width = np.dtype(params["element"]).itemsize * params.get("components", 1)
    return Exchange(
        tuple(params["extent"]), params["halo"], params["fields"], int(width), _algorithm(case.contender),
        faces_only=params.get("neighbors") == "faces",
    )  # fmt: skip


def _algorithm(contender: str) -> str:
    if contender in STAGED or contender.startswith("staged:"):
        return "staged"
    return "node_aware" if "node_aware" in contender or contender == "hand_nodes" else "standard"


def _numbered(values: list[object]) -> np.ndarray:
    names = [str(value) for value in values]
    first_seen = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([first_seen[name] for name in names])


def _periodic(case: Case) -> list[bool]:
    periodic = case.params.get("periodic", True)
    dimensions = len(case.params["grid"])
    if isinstance(periodic, list) and len(periodic) != dimensions:
        raise PlacementError(f"a case in launch {case.launch} is periodic in {len(periodic)} dimensions of {dimensions}")
    return [periodic] * dimensions if isinstance(periodic, bool) else list(periodic)
