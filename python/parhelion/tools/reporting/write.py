"""Everything that a report says about its runs, rendered and written into its two files."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from ..documents.published_form import applications, published_form
from ..documents.document import failed
from ..documents.figures import COLUMNS
from ..documents.params import constant, in_order, text, varying, wording
from ..documents.remarks import remarks
from ..documents.results import contenders, entries, results
from ..documents.sweep.findings import sweep
from ..records import Record, RecordError
from ..records.facts import Facts, flatten
from ..style import pages
from .plots.case import case_plots
from .plots.curves import curve_groups
from .sections.mapping import launch_facts, mappings
from .sections.method import choices, method, setup, setup_exchanges, verification
from .sections.overview import headline, heat_maps, means, overview, verdicts
from .sections.published import published


def section(record: Record, number: int, title: str, with_published: bool = False) -> SimpleNamespace:
    """The section of a run, ready for a template; `number` and `title` tell it from others on the same page."""
    cases = in_order(results(record.cases))
    environment, launches = flatten(record.run.environment), launch_facts(record.launches)
    words = wording(record.run.benchmark)
    head = headline(cases)
    return SimpleNamespace(
        anchor=f"run-{number}",
        record=record,
        title=title,
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
        method=method(record, cases),
        verification=verification(cases),
        failures=failed(record),
        remarks=remarks(record, cases),
        applications=applications(cases),
        published_form=published_form(record.run.benchmark, cases),
        published=published(record.run.benchmark) if with_published else [],
        sweep=sweep(record, cases),
    )


def titles(records: Sequence[Record]) -> list[str]:
    """The benchmark; where several runs are of one, with the image's name, or the run's id where that is not enough."""
    plain = [wording(record.run.benchmark).title for record in records]
    images = [f"{title}: {record.labels.get('image') or record.id}" for title, record in zip(plain, records, strict=True)]
    whole = [f"{title}: {record.id}" for title, record in zip(plain, records, strict=True)]
    return [next((name for name, every in ((title, plain), (image, images)) if every.count(name) == 1), run)
            for title, image, run in zip(plain, images, whole, strict=True)]  # fmt: skip


def _machine(facts: Facts) -> str:
    """Processor and MPI, as far as the record tells."""
    told = [value.partition("\n")[0] for name, value in facts if name in ("cpu model", "library version")]
    return " · ".join(told) or "what the figures depend on"


def write_report(records: Sequence[Record], html: Path | None, markdown: Path | None, with_published: bool = False) -> None:
    """Write the report of `records` to the files that are named; raises `RecordError` when a file cannot be written."""
    named = zip(records, titles(records), strict=True)
    sections = [section(record, number, title, with_published) for number, (record, title) in enumerate(named, start=1)]
    filters = {"param": text, "setup_exchanges": setup_exchanges}
    for path, template in ((html, "report.html.j2"), (markdown, "report.md.j2")):
        if path:
            pages.write(path, pages.render("parhelion.tools.reporting", template, filters, sections=sections), RecordError)
