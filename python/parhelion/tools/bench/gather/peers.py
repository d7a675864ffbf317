"""Other ways to gather beside the rest: plug-ins with other libraries, programs on coarrays; `make peers` builds them."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from ....launch import Flavor
from ...cli.options import Names

# PETSc's type `window` aborts with active synchronisation under Open MPI 4.1: petsc_window_active runs only where it is named.
PLUG_INS = {
    "petsc": ("petsc_basic", "petsc_neighbor", "petsc_window_fence", "petsc_window_lock"),
    "dolfinx": ("dolfinx",),
}
COARRAY = "coarray"
PEERS = (*PLUG_INS, COARRAY)


class Peers(Names):
    """`built`, `all`, `none`, or a list of libraries."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        names = super().convert(value, param, ctx)
        for name in names:
            if name not in (*PEERS, "built", "all", "none") or (len(names) > 1 and name not in PEERS):
                self.fail(f"'{value}': choose from {', '.join(PEERS)}, or one of built, all, none", param, ctx)
        return names


class Chosen(NamedTuple):
    """Contenders of the measuring program, contenders with programs of their own, and what is missing."""

    contenders: tuple[str, ...]
    companions: tuple[Any, ...]
    missing: list[str]


def choose_peers(names: tuple[str, ...], flavor: Flavor) -> Chosen:
    """Those that are asked for; what is not built is told, whether it was asked for by name or not."""
    from .coarray_run import CoarrayContenders
    from .coarrays import coarray_builds

    wanted = PEERS if names[0] in ("built", "all") else () if names[0] == "none" else names
    builds = coarray_builds() if COARRAY in wanted else []
    there = {name for name in wanted if name in PLUG_INS and (flavor.directory / f"libphl_peer_{name}.so").exists()}
    there |= {COARRAY} if builds else set()
    named = names[0] != "built"
    run = [name for name in wanted if name in PLUG_INS and (named or name in there)]
    contenders = tuple(contender for name in run for contender in PLUG_INS[name])
    return Chosen(contenders, (CoarrayContenders(builds),) if builds else (), [name for name in wanted if name not in there])
