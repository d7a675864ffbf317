"""A profile for people."""

from pathlib import PurePath

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...style.words import percent
from ..model import Profile
from ..shares import TABLES, Shares, tables, waiting_share

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
