"""A group of commands that imports a command only when it is called, so that `parhelion --help` is quick."""

import importlib
from typing import Any

import click


class LazyGroup(click.Group):
    """`table` maps a command's name to its module, its attribute there, and its one-line help; `groups` tells under which headings they stand."""

    def __init__(
        self, *args: Any, table: dict[str, tuple[str, str, str]], groups: dict[str, tuple[str, ...]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.table = table
        self.groups = groups or {"Commands": tuple(table)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, attribute, _ = self.table[cmd_name]
        return getattr(importlib.import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, importing none of them."""
        width = max(map(len, self.table))
        for heading, names in self.groups.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), self.table[name][2]) for name in names])
