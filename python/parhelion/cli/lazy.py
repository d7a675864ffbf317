"""Groups that import a command only when it is called, so that `parhelion --help` is quick; options under headings."""

import importlib
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


class LazyGroup(click.Group):
    """`table` maps a command's name to its module, its attribute there, and its one-line help."""

    def __init__(self, *args: Any, table: dict[str, tuple[str, str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, attribute, _ = self.table[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        command.name = cmd_name  # its function may have another
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, _, about) in self.table.items()])
