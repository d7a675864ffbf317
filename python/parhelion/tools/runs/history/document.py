"""The document of `parhelion runs history --json`."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from .changes import ChangePoint
from .find import History


def history_document(found: History, store: Path) -> dict[str, Any]:
    """Runs at which figures changed, the latest first; ratios are after / before."""
    return {
        "schema": "parhelion.history/1", "store": str(store), "runs": found.runs, "figures": len(found.series), "too_few_runs": found.short,
        "turns": [{"run": turn.record.id, "created": turn.record.run.created, "before": turn.before.id,
                   "changes": [_point(point) for point in turn.points], "around": [asdict(each) for each in turn.around]} for turn in found.turns],
        "slower_at_last": [_who(point) for point in found.latest if point.slower],
    }  # fmt: skip


def _point(point: ChangePoint) -> dict[str, Any]:
    return _who(point) | {"ratio": point.ratio, "ci95": list(point.interval), "p": point.p, "before_s": point.before_s, "after_s": point.after_s,
                          "runs_before": point.place, "runs_since": len(point.series.seconds) - point.place}  # fmt: skip


def _who(point: ChangePoint) -> dict[str, Any]:
    series = point.series
    return {"benchmark": series.benchmark, "params": series.case.params, "contender": series.contender, "flavor": series.flavor}
