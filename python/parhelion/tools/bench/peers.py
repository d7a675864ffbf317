"""Other libraries beside the rest; `make peers` builds them."""

from collections.abc import Sequence
from typing import Any

import click

from ..cli.options import Names

# Benchmark → library → the contenders in its plug-in of the measuring program.
# PETSc's type `window` aborts with active synchronisation under Open MPI 4.1: petsc_window_active runs only where it is named.
PLUG_INS: dict[str, dict[str, tuple[str, ...]]] = {
    "halo": {"ghex": ("ghex", "ghex_staged")},
    "gather": {
        "petsc": ("petsc_basic", "petsc_neighbor", "petsc_window_fence", "petsc_window_lock"),
        "dolfinx": ("dolfinx",),
    },
}


class Peers(Names):
    """A list of libraries, or one of `words`."""

    def __init__(self, libraries: Sequence[str], words: Sequence[str] = ()) -> None:
        self.libraries, self.words = libraries, words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        names = super().convert(value, param, ctx)
        for name in names:
            if name not in self.libraries and not (name in self.words and len(names) == 1):
                words = f", or one of {', '.join(self.words)}" if self.words else ""
                self.fail(f"'{name}' is no peer: choose from {', '.join(self.libraries)}{words}", param, ctx)
        return names


def contenders_of(benchmark: str, libraries: Sequence[str]) -> tuple[str, ...]:
    """The contenders that libraries stand for."""
    return tuple(contender for library in libraries for contender in PLUG_INS[benchmark][library])
