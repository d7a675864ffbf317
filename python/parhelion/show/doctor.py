"""Blocks of `parhelion doctor`."""

from collections.abc import Iterable

from ..errors import remedy_of_no_build
from ..machine.doctor import BuildCheck, Examination
from ..machine.probes import Finding
from . import Block, Cell, Table, Text

YES, NO = Cell("yes", kind="good"), Cell("no", kind="bad")


def blocks(found: Examination) -> list[Block]:
    worth = [Text(f"{number}. {words}") for number, words in enumerate(found.worth_doing, start=1)]
    return [*_machine(found), *_builds(found), _table("Transports on this machine", found.transports),
            _table("Facilities of this machine", found.machine), Text("Recommended", "bold"), *worth]


def _machine(found: Examination) -> list[Block]:
    cpu, limits, software = (found.environment[part] for part in ("cpu", "limits", "software"))
    inside = f", in a container ({limits['container']})" if limits["container"] else ""
    virtual = ", virtual machine" if cpu["hypervisor"] else ""
    caches = ", ".join(_cache(cache) for cache in cpu["caches"])
    return [Text(f"{cpu['model']}, {found.usable_cores} usable cores, {cpu['usable_threads']} threads{virtual}{inside}"),
            Text(f"caches: {caches}; NUMA domains: {len(found.environment['numa'])}"),
            Text(f"{software['distribution']}, {software['kernel']}, {software['libc']}")]


def _cache(cache: dict) -> str:
    kind = {"Data": "d", "Instruction": "i"}.get(cache["type"], "")
    return f"L{cache['level']}{kind} {cache['bytes'] / 1024:,.0f} KiB (shared by {cache['shared_by']})"


def _builds(found: Examination) -> list[Block]:
    builds = [(check.build.name, YES if check.program else NO, check.version or check.build.soname, YES if check.mpi4py else NO, check.mpi4py_detail)
              for check in found.builds]
    table = Table(("build", "phl-bench", "MPI library", "mpi4py fits", "why"), builds, 5, "MPI")
    said = [f"launcher on the path: {launcher.words()}" for launcher in found.launchers] or ["launchers on the path: none"]
    said += [found.scheduler] if found.scheduler else []
    said += [_network(check) for check in found.builds if check.started]
    said += [f"device memory in messages of {check.build.name}: {check.device_memory}" for check in found.builds]
    if not all(check.started for check in found.builds):
        said.append("the networks of the MPIs are unknown, because no ranks were started: use --start, in a job")
    told = found.mpi4py
    said.append(f"mpi4py by itself: {told.error or f'{told.installed} loads {told.library_version}'}")
    return [table if builds else Text(f"no build can be used here: {remedy_of_no_build()}"), *map(Text, said)]


def _network(check: BuildCheck) -> str:
    channels = "; ".join(f"{name}: {value}" for name, value in check.network.items()) or "not reported by its MPI"
    return f"network that {check.build.name} uses between two ranks here: {channels}"


def _table(title: str, findings: Iterable[Finding]) -> Table:
    rows = [(Cell(each.name, f"for {each.needed_for}" if each.needed_for else ""), YES if each.works else NO, each.detail, each.remedy or "") for each in findings]
    return Table(("", "works", "details", "remedy"), rows, 4, title)
