"""Everything that the report says about one run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...documents import CaseResult
from ...documents.document import failed
from ...documents.params import constant, in_order, varying
from ...documents.published_form import PublishedForm, published_form
from ...documents.remarks import remarks
from ...documents.results import contenders, entries, results
from ...documents.sweep.findings import Sweep, sweep
from ...documents.wording import Wording, wording
from ...records import Record
from ...records.facts import Facts, flatten
from ..plots.curves import CurveGroup, curve_groups
from ..plots.plots import CasePlots, case_plots
from .environment import launch_facts
from .headline import Headline, headline, means
from .layout import HeatMap, heat_maps
from .mapping import Mapping, mappings
from .method import Method, method
from .published import PublishedTable, published
from .setup import Setup, choices, setup
from .verification import Verification, verification


@dataclass(frozen=True)
class Section:
    """One run, ready for a template."""

    anchor: str
    record: Record
    cases: list[CaseResult]
    parameters: list[str]
    shared: dict[str, str]
    contenders: list[str]
    means: dict[str, float | None]
    roles: dict[str, str]
    headline: Headline
    heat_maps: list[HeatMap]
    curves: list[CurveGroup]
    plots: list[CasePlots]
    mappings: list[Mapping]
    setup: Setup | None
    choices: Facts
    environment: Facts
    launches: Facts
    method: Method
    verification: Verification
    failures: list[Any]
    remarks: list[str]
    published_form: PublishedForm | None
    published: list[PublishedTable]
    sweep: Sweep

    @property
    def timed(self) -> int:
        """Cases that gave samples."""
        return sum(any(entry.launches for entry in case.entries.values()) for case in self.cases)

    @property
    def title(self) -> str:
        return self.wording.title

    @property
    def wording(self) -> Wording:
        """What this benchmark's figures are figures of."""
        return wording(self.record.run.benchmark)

    @property
    def machine(self) -> str:
        """Processor and MPI, as far as the record tells."""
        wanted = ("cpu model", "library version")
        told = [value.partition("\n")[0] for name, value in (*self.environment, *self.launches) if name in wanted]
        return " · ".join(told) or "what the figures depend on"


def section(record: Record, number: int, with_published: bool = False) -> Section:
    """The section of a run; `number` tells it from others on the same page."""
    cases = in_order(results(record.cases))
    roles = {entry.contender: entry.role for entry in entries(cases)}
    return Section(
        anchor=f"run-{number}",
        record=record,
        cases=cases,
        parameters=varying(cases),
        shared=constant(cases),
        contenders=contenders(cases),
        means=means(cases),
        roles=roles,
        headline=headline(cases),
        heat_maps=heat_maps(cases),
        curves=curve_groups(cases, f"r{number}"),
        mappings=mappings(record.launches),
        plots=case_plots(cases, f"r{number}"),
        setup=setup(cases),
        choices=choices(cases),
        environment=flatten(record.run.environment),
        launches=launch_facts(record.launches),
        method=method(record),
        verification=verification(cases),
        failures=failed(record),
        remarks=remarks(record, cases),
        published_form=published_form(record.run.benchmark, cases),
        published=published(record.run.benchmark) if with_published else [],
        sweep=sweep(record, cases),
    )
