"""Options under headings, where a command has many."""

from collections.abc import Callable
from typing import Any

import click

LAST = ("Output", "Help")


class PanelOption(click.Option):
    """An option that stands under a heading of its own in the help of a `PanelCommand`, and among all others elsewhere."""

    def __init__(self, *args: Any, panel: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.panel = panel


class PanelCommand(click.Command):
    """Lists its options panel by panel, in the order in which they first occur; output and help come last. Those without a panel say what the cases are."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        help_option = self.get_help_option(ctx)
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                panel = "Help" if param is help_option else getattr(param, "panel", "Cases")
                panels.setdefault(panel, []).append(record)
        for panel in sorted(panels, key=lambda name: LAST.index(name) if name in LAST else -1):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])


def options_of(panel: str) -> Callable[..., Any]:
    """`click.option` for the options of one panel."""

    def option(*declarations: str, **settings: Any) -> Any:
        return click.option(*declarations, cls=PanelOption, panel=panel, **settings)

    return option
