"""`parhelion runs`."""

import click

from ..cli.lazy import LazyGroup

VERBS = {
    "list": ("parhelion.tools.runs.commands", "list_runs", "List the runs in a store."),
    "show": ("parhelion.tools.runs.commands", "show_run", "Show one run."),
    "tag": ("parhelion.tools.runs.commands", "tag_run", "Give a run labels, or take some away."),
    "export": ("parhelion.tools.runs.export", "export_runs", "Write samples or figures as CSV, Parquet or JSON."),
    "import": ("parhelion.tools.runs.commands", "import_runs", "Make a run of what OSU Micro-Benchmarks or IMB have printed."),
    "query": ("parhelion.tools.runs.export", "query_runs", "Ask the store in SQL."),
    "history": ("parhelion.tools.runs.history.command", "history", "Find the runs at which figures of a store became slower or faster."),
}


@click.group(cls=LazyGroup, table=VERBS)
def runs() -> None:
    """Runs that were measured: a store is a folder of run folders."""
