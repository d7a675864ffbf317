"""The document of `parhelion place --json`."""

from dataclasses import asdict
from typing import Any

from ..placement.placement import Placement
from .graphs import between_document

SCHEMA = "parhelion.placement/1"


def placement_document(placement: Placement, objective: str) -> dict[str, Any]:
    """Grid, node of every grid point (last dimension fastest), scores per portfolio member and level, and what goes between nodes.

    The entry "automatic" of `scores` (or "by_hand", or the one method asked for) is the placement itself; a member that does not apply is in
    `not_applicable` with the reason.
    """
    own = placement.name if placement.by_name else "automatic"
    scores = {own: by_level(placement.scores)}
    scores |= {member.name: by_level(member.scores) for member in placement.members if not member.reason}
    predicted = {own: placement.seconds} | {member.name: member.seconds for member in placement.members if not member.reason}
    return {
        "schema": SCHEMA,
        "grid": list(placement.grid),
        "node_of_rank": placement.units("node").ravel().tolist(),
        "scores": scores,
        **between_document(own, placement.node_pairs(), placement.node_pairs(blocked=True)),
        "predicted_s": predicted if placement.seconds is not None else None,
        "chosen": placement.name,
        "objective": objective if placement.seconds is None else "time",
        "levels": list(placement.machine.levels),
        "units": {level: placement.machine.units(level) for level in placement.machine.levels},
        "not_applicable": {member.name: member.reason for member in placement.members if member.reason},
        "notes": [placement.note] if placement.note else [],
        "topology": placement.machine.topology,
        "topology_source": placement.machine.source,
    }


def by_level(scores: dict[str, Any]) -> dict[str, Any]:
    return {level: asdict(score) for level, score in scores.items()}
