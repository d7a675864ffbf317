"""The document of `parhelion image compare --json`."""

from dataclasses import asdict
from typing import Any

from ...comparing import comparison_document
from ...profiling.compare.difference import comparison_document as profile_document
from ..folder import MeasuredImage
from .causes import Cause
from .comparison import ImageComparison

SCHEMA = "parhelion.image-compare/1"


def image_document(found: ImageComparison) -> dict[str, Any]:
    """Causes first, the most probable one first; then every figure and every difference. Ratios are B / A."""
    first, second = found.images
    return {
        "schema": SCHEMA, "A": _side(first), "B": _side(second),
        "causes": [_cause(cause) for cause in found.causes],
        "changed": [_changed(benchmark, row) for benchmark, row in found.changed],
        "typical_ratios": found.moved,
        "published": [asdict(row) for row in found.published],
        "differences": [{"kind": each.kind, **asdict(each.change)} for each in found.differences],
        "benchmarks": {name: comparison_document(each) for name, each in found.benchmarks.items()},
        "profiles": {name: profile_document(each) for name, each in found.profiles.items()},
        "missing": found.missing,
    }  # fmt: skip


def _side(image: MeasuredImage) -> dict[str, Any]:
    told = image.image
    return {"image": told.image, "created": told.created, "ranks": told.ranks, "flavor": told.flavor, "labels": told.labels, "providers": told.providers}


def _cause(cause: Cause) -> dict[str, Any]:
    return {"title": cause.title, "likelihood": cause.likelihood, "weight": cause.weight, "why": cause.why,
            "facts": [{"kind": each.kind, **asdict(each.change)} for each in cause.facts]}  # fmt: skip


def _changed(benchmark: str, row) -> dict[str, Any]:
    return {"benchmark": benchmark, "params": row.case.params, "contender": row.contender, "ratio": row.difference.ratio,
            "ci95": list(row.difference.interval), "verdict": str(row.verdict)}  # fmt: skip
