"""The cases of `bench gather`, grouped by the rank count that their data sets need."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from ...measuring.measurement import Group


def gather_groups(
    datasets: tuple[Path, ...], ranks: int | None, element: tuple[str, ...], components: tuple[int, ...]
) -> list[Group]:
    """One group per rank count, the fewest ranks first; every data set is read and checked before anything starts."""
    groups: dict[int, list[dict[str, object]]] = {}
    for dataset in datasets:
        cases = groups.setdefault(_checked_ranks(dataset, ranks), [])
        for kind, each in product(element, components):
            cases.append({"dataset": str(dataset.resolve()), "element": kind, "components": each})
    return [Group(count, cases) for count, cases in sorted(groups.items())]


def _checked_ranks(dataset: Path, ranks: int | None) -> int:
    from ...partitioning.maps.published import read_published

    return read_published(dataset, ranks).ranks
