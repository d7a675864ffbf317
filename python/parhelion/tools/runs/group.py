"""`parhelion runs`."""

from __future__ import annotations

import click

from .lazy import LazyGroup

VERBS = {
    "list": (".runs_list", "list_runs", "List the runs in a store."),
    "show": (".runs_show", "show_run", "Show one run."),
    "tag": (".runs_tag", "tag_run", "Give a run labels, or take some away."),
    "export": (".runs_export", "export_runs", "Write samples or figures as CSV, Parquet or JSON."),
    "import": (".runs_import", "import_runs", "Make a run of what OSU Micro-Benchmarks or IMB have printed."),
    "query": (".runs_export", "query_runs", "Ask the store in SQL."),
}


@click.group(cls=LazyGroup, table=VERBS)
def runs() -> None:
    """Runs that were measured: a store is a folder of run folders."""
