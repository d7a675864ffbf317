"""A group of commands that imports a command only when it is called, so that `parhelion --help` is quick."""

from __future__ import annotations

import importlib
from typing import Any

import click

from .errors import BadInput, known_errors, missing_package


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
        return getattr(importlib.import_module(module, __package__), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, _, help_text) in self.table.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; bad input ends in one message, never in a traceback."""
        try:
            return super().invoke(ctx)
        except known_errors() as error:
            raise BadInput(str(error)) from None
        except ModuleNotFoundError as error:
            raise missing_package(error) from None
        except MemoryError as error:
            raise BadInput(f"there is not enough memory for this{f' ({error})' if str(error) else ''}: ask for less") from None
        except BrokenPipeError:
            raise  # click ends quietly when whoever read our output has gone
        except OSError as error:
            raise BadInput(f"cannot use {error.filename or 'standard output or a temporary file'}: {error.strerror or error}") from None
