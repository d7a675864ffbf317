"""Two images side by side: figures, profiles, what differs, and what could be why; and the document of it."""

from dataclasses import asdict, dataclass
from typing import Any

from .comparison import Comparison
from .comparison_document import comparison_document
from .comparison import Matched, Row, compare_all, match
from .params import in_order
from .results import results
from .layouts import PublishedRow, published_rows
from .profile_difference import ProfileComparison, compare_profiles, comparison_document as profile_document
from ..record.model import RecordError
from .verdict import IMAGE_RULES, Rules, Verdict
from ..record.image import ImageError, MeasuredImage, RAN
from .causes import Cause, causes
from .evidence import Difference, differences, evidence


@dataclass(frozen=True)
class ImageComparison:
    """B against A. `changed` is ranked by how much; `missing` says what cannot be compared and why."""

    images: tuple[MeasuredImage, MeasuredImage]
    benchmarks: dict[str, Comparison]
    profiles: dict[str, ProfileComparison]
    changed: list[tuple[str, Row]]
    moved: dict[str, float]
    differences: list[Difference]
    causes: list[Cause]
    missing: list[str]

    @property
    def total(self) -> int:
        """Figures that both images have."""
        return sum(len(found.rows) for found in self.benchmarks.values())

    def count(self, verdict: Verdict) -> int:
        """Figures of that verdict, over all benchmarks."""
        return sum(found.count(verdict) for found in self.benchmarks.values())

    @property
    def failed(self) -> list[str]:
        """What gave wrong values or broke down in B."""
        return [name for found in self.benchmarks.values() for name in found.failed["B"]]

    @property
    def published(self) -> list[PublishedRow]:
        """Both images in the layout of the published image test, size by size."""
        records = [image.records["alltoall"] for image in self.images if "alltoall" in image.records]
        rows = [row for record in records for row in published_rows(record, in_order(results(record.cases)))]
        return sorted(rows, key=lambda row: (row.ranks, row.size))  # stable: A before B


def compare_images(first: MeasuredImage, second: MeasuredImage, rules: Rules = IMAGE_RULES) -> ImageComparison:
    """Compare B (`second`) with A (`first`); raises `ImageError` when they have no figure in common.

    Causes are looked for where figures changed or values are wrong: without that there is nothing to explain.
    """
    images = (first, second)
    compared, missing = _compared(images, rules)
    if not compared:
        raise ImageError(f"{first.image.image} and {second.image.image} have no figure in common: " + "; ".join(missing or ["nothing was measured"]))
    profiles = {name: compare_profiles(profile, second.profiles[name]) for name, profile in first.profiles.items() if name in second.profiles}
    signs, found = evidence(images, compared, profiles), differences(first, second)
    unlike = signs.changed or any(each.failed["B"] for each in compared.values())
    why = causes(found, signs) if unlike else []
    return ImageComparison(images, compared, profiles, signs.changed, signs.moved, found, why, missing)


def _compared(images: tuple[MeasuredImage, MeasuredImage], rules: Rules) -> tuple[dict[str, Comparison], list[str]]:
    """The figures of all benchmarks are one family: equal images have nothing that differs, whatever there is to be compared."""
    matched: dict[str, Matched] = {}
    missing = [f"{side}: {part}: {why}" for side, image in zip("AB", images, strict=True)
               for part, why in image.image.parts.items() if why != RAN]  # fmt: skip
    first, second = images
    for benchmark in first.records:
        if benchmark not in second.records:
            continue
        try:
            matched[benchmark] = match(first.of(benchmark), second.of(benchmark))
        except RecordError as error:
            missing.append(str(error))
    return dict(zip(matched, compare_all(list(matched.values()), rules), strict=True)), missing


SCHEMA = "parhelion.image-compare/1"


def image_document(found: ImageComparison) -> dict[str, Any]:
    """Causes first, the most probable one first; then every figure and every difference. Ratios are B / A."""
    first, second = found.images
    return {
        "schema": SCHEMA, "A": _side(first), "B": _side(second),
        "figures": {str(verdict): found.count(verdict) for verdict in Verdict},
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
