"""The doctor's findings for people."""

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ....launch.there import remedy_of_no_build
from ...style.terminal import table
from .examination import Build, Examination
from .probes import Finding

YES, NO = "[green]yes[/]", "[red]no[/]"


def show(found: Examination, console: Console) -> None:
    """Print everything."""
    _machine(found, console)
    _builds(found, console)
    console.print(_table("Transports on this machine", found.transports))
    console.print(_table("What the machine offers", found.machine))
    console.print("[bold]Most worth doing[/]")
    for number, words in enumerate(found.worth_doing, start=1):
        console.print(f"{number}. {words}", markup=False, highlight=False)


def _machine(found: Examination, console: Console) -> None:
    cpu, limits, software = (found.environment[part] for part in ("cpu", "limits", "software"))
    inside = f", in a container ({limits['container']})" if limits["container"] else ""
    virtual = ", virtual machine" if cpu["hypervisor"] else ""
    console.print(f"{cpu['model']}, {found.usable_cores} usable cores, {cpu['usable_threads']} threads{virtual}{inside}", markup=False)
    caches = ", ".join(_cache(cache) for cache in cpu["caches"])
    console.print(f"caches: {caches}; NUMA domains: {len(found.environment['numa'])}", markup=False)
    console.print(f"{software['distribution']}, {software['kernel']}, {software['libc']}", markup=False)


def _cache(cache: dict) -> str:
    kind = {"Data": "d", "Instruction": "i"}.get(cache["type"], "")
    return f"L{cache['level']}{kind} {cache['bytes'] / 1024:,.0f} KiB (shared by {cache['shared_by']})"


def _builds(found: Examination, console: Console) -> None:
    shown = table("MPI", left=("build", "phl-bench", "MPI library", "mpi4py fits", "why"), overflow="fold")
    for build in found.flavors:
        shown.add_row(*_build_cells(build))
    console.print(shown if found.flavors else escape(f"no build can be used here: {remedy_of_no_build()}"))
    for launcher in found.launchers:
        console.print(f"launcher on the path: {launcher.words()}", markup=False, soft_wrap=True)
    for line in filter(None, [found.scheduler, "" if found.launchers else "launchers on the path: none"]):
        console.print(line, markup=False, soft_wrap=True)
    for build in found.flavors:
        if not build.started:
            continue
        channels = "; ".join(f"{name}: {value}" for name, value in build.network.items()) or "its MPI does not tell"
        console.print(f"network that {build.flavor.name} takes between two ranks here: {channels}", markup=False, soft_wrap=True)
    if not all(build.started for build in found.flavors):
        console.print("no ranks were started, so the networks that MPIs take are not known: --start, in a job", markup=False, soft_wrap=True)
    told = found.mpi4py
    loads = told.error or f"{told.installed} loads {told.library_version}"
    console.print(f"mpi4py by itself: {loads}", markup=False, soft_wrap=True)


def _build_cells(build: Build) -> tuple[str, ...]:
    flavor = build.flavor
    return flavor.name, YES if build.program else NO, escape(build.version or flavor.soname), YES if build.mpi4py else NO, escape(build.mpi4py_detail)


def _table(title: str, findings: Iterable[Finding]) -> Table:
    shown = table(title, left=("", "works", "why", "what could be done"), overflow="fold")
    for finding in findings:
        name = escape(finding.name) + (f"\n[dim]for {escape(finding.needed_for)}[/]" if finding.needed_for else "")
        shown.add_row(name, YES if finding.works else NO, escape(finding.detail), escape(finding.remedy or ""))
    return shown
