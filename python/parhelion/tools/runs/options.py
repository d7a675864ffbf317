"""What the verbs of `parhelion runs` share."""

from collections.abc import Sequence
from pathlib import Path

import click

from ..cli.output import Output
from ..records import Record, read_record
from ..records.folder import DEFAULT_STORE
from ..records.store import stored_runs

# Eager: names of runs are looked up in it.
store_option = click.option("--store", is_eager=True, type=click.Path(path_type=Path), default=DEFAULT_STORE, show_default=True, metavar="FOLDER",
                            help="Folder of run folders.")
labeled_option = click.option("--labeled", "labels", multiple=True, metavar="KEY=VALUE", help="Only runs with this label; may be repeated.")


def chosen(runs: Sequence[Path], store: Path, output: Output) -> list[Record]:
    """The named runs, or every run of the store that can be read; the others are named."""
    if runs:
        return [read_record(run) for run in runs]
    found = stored_runs(store)
    for each in found:
        if each.error:
            output.errors.print(f"left out: {each.error}", markup=False, soft_wrap=True)
    return [each.record for each in found if each.record]
