"""Rows for what was asked for and cannot run here."""

from __future__ import annotations

from ..machine.contenders import built_contenders
from ..records import RunFolder
from ..records.model import UNAVAILABLE, Case, End
from .measurement import Group, Measurement


def write_unavailable(folder: RunFolder, what: Measurement, launch: int, group: Group, reason: str) -> None:
    """A row with the reason for every case and contender that cannot be measured."""
    for case in group.cases:
        params = {**case, "ranks": group.ranks, **group.params()}
        for contender, role in _contenders(what, group):
            folder.append(Case(launch, what.benchmark, contender, params, role, verified=False, skipped=reason))
    folder.append(End(launch, UNAVAILABLE, f"{group.combination}: {reason}"))


def _contenders(what: Measurement, group: Group) -> list[tuple[str, str]]:
    asked = what.contenders_of(group)
    flavors = [other.combination.flavor for other in (group, *what.groups) if other.combination]
    for flavor in filter(None, flavors):
        listed = built_contenders(flavor).get(what.benchmark, [])
        chosen = [each for each in listed if each["name"] in asked or not (asked or each.get("only_by_name"))]
        if chosen:
            return [(each["name"], each["role"]) for each in chosen]
    return [(name, "own") for name in asked or ("any",)]
