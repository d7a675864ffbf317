"""Everything that the report says about one run."""

from types import SimpleNamespace

from ...documents.applications import applications
from ...documents.document import failed
from ...documents.figures import COLUMNS
from ...documents.params import constant, in_order, varying
from ...documents.published_form import published_form
from ...documents.remarks import remarks
from ...documents.results import contenders, entries, results
from ...documents.sweep.findings import sweep
from ...documents.wording import wording
from ...records import Record
from ...records.facts import Facts, flatten
from ..plots.curves import curve_groups
from ..plots.plots import case_plots
from .headline import headline, means
from .layout import heat_maps
from .mapping import launch_facts, mappings
from .method import method
from .overview import overview, verdicts
from .published import published
from .setup import choices, setup
from .verification import verification


def section(record: Record, number: int, with_published: bool = False) -> SimpleNamespace:
    """The section of a run, ready for a template; `number` tells it from others on the same page."""
    cases = in_order(results(record.cases))
    environment, launches = flatten(record.run.environment), launch_facts(record.launches)
    words = wording(record.run.benchmark)
    head = headline(cases)
    return SimpleNamespace(
        anchor=f"run-{number}",
        record=record,
        title=words.title,
        wording=words,
        cases=cases,
        timed=sum(any(entry.launches for entry in case.entries.values()) for case in cases),
        parameters=varying(cases),
        shared=constant(cases),
        contenders=contenders(cases),
        means=means(cases),
        figures=COLUMNS,
        roles={entry.contender: entry.role for entry in entries(cases)},
        headline=head,
        overview=overview(cases),
        verdicts=verdicts(cases, head, words),
        heat_maps=heat_maps(cases),
        curves=curve_groups(cases, f"r{number}"),
        plots=case_plots(cases, f"r{number}"),
        mappings=mappings(record.launches),
        setup=setup(cases),
        choices=choices(cases),
        environment=environment,
        launches=launches,
        machine=_machine([*environment, *launches]),
        method=method(record),
        verification=verification(cases),
        failures=failed(record),
        remarks=remarks(record, cases),
        applications=applications(cases),
        published_form=published_form(record.run.benchmark, cases),
        published=published(record.run.benchmark) if with_published else [],
        sweep=sweep(record, cases),
    )


def _machine(facts: Facts) -> str:
    """Processor and MPI, as far as the record tells."""
    told = [value.partition("\n")[0] for name, value in facts if name in ("cpu model", "library version")]
    return " · ".join(told) or "what the figures depend on"
