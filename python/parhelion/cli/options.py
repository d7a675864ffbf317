"""Option types, option panels in help texts, and shared options."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import click
import click.shell_completion

from ..base.numbers import shortened, whole_number
from ..launch.builds import MOST_RANKS, launcher_named
from ..analyze.words import BYTES

# Upper bounds of options: beyond realistic use, low enough to finish.
LARGEST = 2**31 - 1
MOST_PLACED_RANKS = 2**24  # most_ranks in placement/limits.hpp
MOST_NODES = 2**20  # most_nodes there
MOST_REPETITIONS = 1_000_000
MOST_LAUNCHES = 1000
MOST_EXTENT = 2**24
MOST_HALO = 1024
MOST_FIELDS = 1024
MOST_COMPONENTS = 2**20
MOST_BYTES = 2**30
MOST_SECONDS = 10_000_000.0


class Whole(click.IntRange):
    """A whole number in ASCII digits from `min` to `max`."""

    def __init__(self, low: int, high: int) -> None:
        super().__init__(low, high)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return whole_number(str(value), int(self.min or 0), int(self.max or 0))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Real(click.FloatRange):
    """A finite number within a range; comparisons alone would accept `nan`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if not str(value).isascii() or not math.isfinite(number):
            self.fail(f"{shortened(str(value))} is not a number", param, ctx)
        return number


class Numbers(click.ParamType):
    """A list of whole numbers from `low` to `high`, such as `1,2,4,5` or `2x1x1`."""

    name = "numbers"

    def __init__(self, low: int = 1, high: int = LARGEST, most: int | None = None) -> None:
        self.low, self.high, self.most = low, high, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(whole_number(part, self.low, self.high) for part in str(value).lower().replace("x", ",").split(","))
        except ValueError as error:
            self.fail(f"{shortened(str(value))} is not a list such as 1,2,4: {error}", param, ctx)
        if self.most and len(numbers) > self.most:
            self.fail(f"{shortened(str(value))} has {len(numbers)} numbers, at most {self.most} can be used", param, ctx)
        return numbers


class Names(click.ParamType):
    """A list of names such as `auto,mpi`, all in `known` unless that is empty; `is_one`: noun for errors."""

    name = "names"

    def __init__(self, known: Sequence[str] = (), is_one: str = "name") -> None:
        self.known, self.is_one = known, is_one

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = tuple(filter(None, (part.strip() for part in value.split(","))))
        if not names:
            self.fail(f"{shortened(str(value))} has no name: give one, or several separated by commas", param, ctx)
        for unknown in [name for name in names if self.known and name not in self.known]:
            self.fail(f"unknown {self.is_one} {shortened(unknown)}: choose from {', '.join(self.known)}", param, ctx)
        return names


class Sizes(click.ParamType):
    """A list of byte sizes such as `1,1000,64K`; `1-4M` means every power of two in the range."""

    name = "sizes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            sizes = [size for part in str(value).split(",") for size in self._part(part)]
        except (ValueError, KeyError):
            self.fail(f"{shortened(str(value))} is not a list of sizes such as 1,1000,64K or 1-4M", param, ctx)
        if not sizes or any(not 1 <= size <= MOST_BYTES for size in sizes):
            self.fail(f"{shortened(str(value))}: each size must be from 1 to {MOST_BYTES} bytes", param, ctx)
        return tuple(dict.fromkeys(sizes))

    def _part(self, part: str) -> list[int]:
        low, dash, high = part.partition("-")
        if not dash:
            return [self._bytes(low)]
        powers = [2**power for power in range(self._bytes(high).bit_length())]
        return [size for size in powers if size >= self._bytes(low)]

    def _bytes(self, word: str) -> int:
        digits = word.strip().upper().removesuffix("IB").removesuffix("B")
        unit = digits[-1:] if digits[-1:].isalpha() else ""
        return whole_number(digits.removesuffix(unit).strip(), 0, LARGEST) * BYTES[unit]


class Periodic(click.ParamType):
    """Periodic dimensions: `yes`, `no`, or one of them per dimension."""

    name = "periodic"
    words: ClassVar = {"yes": True, "no": False}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool | tuple[bool, ...]:
        if not isinstance(value, str):
            return value
        try:
            along = tuple(self.words[word.strip().lower()] for word in value.split(","))
        except KeyError:
            self.fail(f"{shortened(value)}: give yes, no, or one of both for each dimension, such as yes,no,yes", param, ctx)
        return along if len(along) > 1 else along[0]


class Share(click.ParamType):
    """A fraction between 0 and 1, such as `5%` or `0.05`."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            self.fail(f"{shortened(text)} is not a share such as 5%", param, ctx)
        if not text.isascii() or not 0 < share < 1:
            self.fail(f"{shortened(text)}: give a share between 0 and 100 %", param, ctx)
        return share


LAST = ("Output", "Help")


class PanelOption(click.Option):
    """An option with a panel in the help of a `PanelCommand`."""

    def __init__(self, *args: Any, panel: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.panel = panel


class PanelCommand(click.Command):
    """Command whose help lists options by panel, in order of first occurrence; Output and Help last. The default panel is Cases."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        help_option = self.get_help_option(ctx)
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and record[1]:  # arguments appear in the usage line
                panel = "Help" if param is help_option else getattr(param, "panel", "Cases")
                panels.setdefault(panel, []).append(record)
        for panel in sorted(panels, key=lambda name: LAST.index(name) if name in LAST else -1):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])


def options_of(panel: str) -> Callable[..., Any]:
    return partial(click.option, cls=PanelOption, panel=panel)


RANKS = Whole(1, MOST_RANKS)
SEED = Whole(0, 2**62)
SECONDS = Real(1, MOST_SECONDS)
FAIL_ON = {"slower": ("slower",), "different": ("slower", "faster"), "never": ()}  # verdicts with exit status 1
TOPOLOGY_HELP = "The machine: such as 'node:27 pack:2 numa:4 l3:4 core:4', xml:FILE (hwloc), here."

_builds, _kept = options_of("Builds and ranks"), options_of("Output")

out_option = _kept("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Folder for the output [runs/<time>-…].")
build_option = _builds("--build", "build", metavar="BUILD", help="Which build [the latest].")
launcher_option = _builds("--launcher", metavar="COMMAND", expose_value=False, callback=lambda ctx, option, given: _take_launcher(ctx, given),
                          help="Command that starts the ranks, such as 'srun --mpi=cray_shasta': sets PARHELION_LAUNCHER.")
no_bind_option = _builds("--no-bind", is_flag=True, help="Do not bind ranks to cores.")
json_option = _kept("--json", "json_file", metavar="FILE", help="Also write one JSON document; - for standard output.")
speedscope_option = _kept("--speedscope", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                          help="Write stacks for https://www.speedscope.app, which draws flame graphs.")
labels_option = _kept("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Label for what is measured; may be repeated.")


def _take_launcher(ctx: click.Context, given: str | None) -> None:
    """Set the launcher until the root context closes, which also happens if another option is invalid."""
    ctx.find_root().with_resource(launcher_named(given))


class Named(click.ParamType):
    """A run, image or profile by path, name or part of a name; completes names in a shell."""

    def __init__(self, module: str, what: str) -> None:
        self.module, self.name = module, what  # imported lazily: needs packages that `parhelion run` must not need

    @property
    def file(self) -> str:
        """Name of the main file in such a folder."""
        return str(self._kept().FILE_NAME)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from ..record.folder import find_run

        return value if isinstance(value, Path) else find_run(value, self._store(ctx), self.file, self.name)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        from ..record.folder import folders_with

        names = [folder.name for folder in folders_with(self.file, self._store(ctx))]
        found = [click.shell_completion.CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*found, *click.Path().shell_complete(ctx, param, incomplete)]

    def _store(self, ctx: click.Context | None) -> Path:
        return (ctx.params.get("store") if ctx else None) or self._kept().DEFAULT_STORE

    def _kept(self) -> ModuleType:
        return importlib.import_module(f"parhelion.record.{self.module}")


RUN, IMAGE, PROFILE = Named("folder", "run"), Named("image", "image"), Named("profile", "profile")
