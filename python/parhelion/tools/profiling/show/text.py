"""A profile for people, and the document of `parhelion profile run` and `show` with `--json`; shares are of the time of all ranks."""

from pathlib import Path, PurePath
from typing import Any

from msgspec import to_builtins
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...style.words import percent
from ..model import Profile
from ..shares import TABLES, Shares, by_part, own_shares, tables, waiting_share

LEAST = 0.001
MUCH = 0.1


def show(profile: Profile, console: Console, most: int = 15) -> None:
    """Parts first, then libraries and functions, then ranks."""
    say = console.print
    say(f"{profile.profile}: {len(profile.ranks)} ranks of {' '.join(profile.program)}, {profile.samples} samples", markup=False)
    for note in profile.notes:
        say(f"[note]note:[/] {escape(note)}", soft_wrap=True)
    if (waited := waiting_share(profile.ranks)) > MUCH:
        say(
            f"[note]note:[/] for {percent(waited, 0)} of their time the ranks waited for cores that others had; shares leave that out",
            soft_wrap=True,
        )
    if profile.samples:
        found = tables(profile)
        shown = {
            "share of the time, by part": _table(found["parts"], most),
            "by library; charged: with what the kernel and libc did for it": _libraries(found["libraries"], found["charged"], most),
            TABLES["symbols"][0]: _table(found["symbols"], most),
            TABLES["totals"][0]: _table(found["totals"], most),
        }
        for title, table in shown.items():
            say(f"\n[bold]{title}[/]")
            say(table)
    say("\n[bold]ranks[/]")
    say(_ranks(profile))


def _table(shares: Shares, most: int) -> Table:
    table = Table()
    table.add_column("share", justify="right")
    table.add_column("what", overflow="fold")
    table.add_column("in")
    for key, share in list(shares.items())[:most]:
        if share >= LEAST:
            where = PurePath(key.library).name if key.symbol else key.part if key.library else ""
            table.add_row(percent(share), escape(key.name), escape(where))
    return table


def _libraries(own: Shares, charged: Shares, most: int) -> Table:
    table = Table()
    for name in ("share", "charged", "library", "part"):
        table.add_column(name, justify="right" if name in ("share", "charged") else "left", overflow="fold")
    for key in sorted({*own, *charged}, key=lambda each: -max(own.get(each, 0.0), charged.get(each, 0.0)))[:most]:
        shares = own.get(key, 0.0), charged.get(key, 0.0)
        if max(shares) >= LEAST:
            table.add_row(*map(percent, shares), escape(key.library or key.part), escape(key.part))
    return table


def _ranks(profile: Profile) -> Table:
    table = Table()
    for name in ("rank", "host", "time, s", "waiting for a core", "on one", "asleep", "asleep in"):
        table.add_column(name, justify="left" if name in ("host", "asleep in") else "right", overflow="fold")
    for rank in profile.ranks:
        whole = rank.whole_s or 1.0
        asleep = sorted(rank.asleep.items(), key=lambda item: -item[1])
        where = ", ".join(f"{name} {percent(spent / whole, 0)}" for name, spent in asleep if spent >= LEAST * whole)
        figures = (
            f"{rank.wall_s:.2f}",
            percent(waiting_share([rank])),
            percent(rank.cpu_s / whole),
            percent(sum(rank.asleep.values()) / whole),
        )
        table.add_row(str(rank.rank), escape(rank.host), *figures, escape(where))
    return table


SCHEMA = "parhelion.profile-shares/1"
NAMES = dict(zip(TABLES, ("parts", "libraries", "libraries_charged", "symbols", "functions_with_callees"), strict=True))


def profile_document(profile: Profile, folder: Path) -> dict[str, Any]:
    """Shares by part, library and function, and what each rank did."""
    return {
        "schema": SCHEMA, "profile": profile.profile, "folder": str(folder), "labels": profile.labels,
        "program": profile.program, "tool": to_builtins(profile.tool), "notes": profile.notes,
        **{NAMES[name]: _objects(shares) for name, shares in tables(profile).items()},
        "ranks": [{"rank": rank.rank, "host": rank.host, "wall_s": rank.wall_s, "cpu_s": rank.cpu_s,
                   "waiting_s": rank.waiting_s, "asleep_s": rank.asleep,
                   "samples": rank.samples, "libraries": rank.libraries,
                   "parts": _objects(own_shares(profile, by_part(profile), [rank]))} for rank in profile.ranks],
    }  # fmt: skip


def _objects(shares: Shares) -> list[dict[str, Any]]:
    return [key.told() | {"share": share} for key, share in shares.items()]
