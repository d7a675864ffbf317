"""The plots of each case: how the samples are distributed, and how they ran over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ...documents import CaseResult
from ...documents.params import case_label, some
from .distribution import distribution
from .timeline import timeline

MOST_CASES = 24  # a page with hundreds of plots helps nobody


@dataclass(frozen=True)
class CasePlots:
    """Both plots of one case as SVG."""

    title: str
    distribution: Markup
    timeline: Markup | None


def case_plots(cases: Sequence[CaseResult], prefix: str) -> list[CasePlots]:
    """One pair of plots per case that gave more than a single figure; of very many cases, evenly spaced ones."""
    timed = [case for case in cases if any(sum(map(len, entry.launches)) > 1 for entry in case.entries.values())]
    return [_plots(case, case_label(case, cases), f"{prefix}c{number}") for number, case in enumerate(some(timed, MOST_CASES))]


def _plots(case: CaseResult, title: str, prefix: str) -> CasePlots:
    over_time = timeline(case, f"{prefix}t")
    return CasePlots(title, Markup(distribution(case, f"{prefix}d")), Markup(over_time) if over_time else None)
