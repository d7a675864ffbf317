"""The reference of the command line, from the commands themselves."""

import inspect
from collections.abc import Iterator
from html import escape

import click


def reference(root: click.Group) -> str:
    """Every command with its arguments and options, in the order of `--help`."""
    return "\n".join(_section(context) for context in _contexts(click.Context(root, info_name="parhelion")))


def _contexts(context: click.Context) -> Iterator[click.Context]:
    yield context
    command = context.command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _contexts(click.Context(inner, info_name=name, parent=context))


def undocumented(root: click.Group) -> list[str]:
    """Commands and options without a word of help."""
    contexts = list(_contexts(click.Context(root, info_name="parhelion")))
    options = [f"{context.command_path} {option.opts[-1]}" for context in contexts for option in context.command.params
               if isinstance(option, click.Option) and not option.hidden and not option.help]  # fmt: skip
    return [context.command_path for context in contexts if not context.command.help] + options


def _section(context: click.Context) -> str:
    usage = " ".join([context.command_path, *context.command.collect_usage_pieces(context)])
    records = [record for option in context.command.get_params(context) if (record := option.get_help_record(context))]
    rows = "".join(f"| {_code(names)} | {_cell(text)} |\n" for names, text in records)
    table = f"| Option | |\n|---|---|\n{rows}" if rows else ""
    depth = "##" if context.parent is None or context.parent.parent is None else "###"
    text = inspect.cleandoc(context.command.help or "").replace("\b\n", "")
    return f"{depth} {context.command_path}\n\n```\n{usage}\n```\n\n{text}\n\n{table}"


def _code(names: str) -> str:
    return f"<code>{escape(names).replace('|', '&#124;')}</code>"


def _cell(text: str) -> str:
    return escape(text, quote=False).replace("|", "&#124;").replace("*", "&#42;")
