"""Files by which launchers put rank r where the placement wants it."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..launch import FlavorError, find_flavor
from ..launch.disk import writing
from ..launch.slurm import SPEAKS
from ..placement import GraphPlacement, Numbering, Placement, PlacementError


@dataclass(frozen=True)
class RankFile:
    """The text of a file and how to start with it; in `start`, `{file}` stands for its name, `{mpi}` for how srun speaks to the MPI."""

    text: str
    start: str
    note: str = ""


@dataclass(frozen=True)
class Slots:
    """By rank: the host and the core on it (None where the machine has no cores)."""

    hosts: list[str]
    cores: list[int] | None


def rank_file(kind: str, placement: Placement | GraphPlacement, numbering: str = "", hosts: Sequence[str] = ()) -> RankFile:
    """A file for the launcher `kind`: mpich, openmpi, intel or slurm.

    Rank r is the grid point that `numbering` gives r to. `hosts` name the machine's nodes; without them they are called
    node0, node1, …  Raises PlacementError.
    """
    if kind not in WRITERS:
        raise PlacementError(f"no rank file is known for '{kind}': choose from {', '.join(WRITERS)}")
    return WRITERS[kind](slots(placement, numbering, hosts))


def write_rank_file(target: str, placement: Placement | GraphPlacement, numbering: str = "", hosts: Sequence[str] = ()) -> list[str]:
    """Write a file that `target`, KIND:FILE, names. Returns how to start with it, and a note where there is one."""
    kind, _, path = target.partition(":")
    if not path:
        raise PlacementError(f"--rank-file {target}: write KIND:FILE, such as mpich:hosts.txt")
    made = rank_file(kind, placement, numbering, hosts)
    with writing(path):
        Path(path).write_text(made.text)
    try:
        spoken = SPEAKS.get(find_flavor().kind, "pmi2")
    except FlavorError:
        spoken = "pmi2"
    return [f"{path}: start with  {made.start.format(file=path, mpi=spoken)}", *filter(None, [made.note and f"  {made.note}"])]


def slots(placement: Placement | GraphPlacement, numbering: str = "", hosts: Sequence[str] = ()) -> Slots:
    """Where every rank goes."""
    names = list(hosts) or [f"node{n}" for n in range(placement.machine.nodes)]
    if len(names) != placement.machine.nodes:
        raise PlacementError(f"{len(names)} hosts are named for a machine of {placement.machine.nodes} nodes")
    numbered = Numbering(placement.grid, numbering)
    cores = None
    if "core" in placement.machine.levels:
        cores = numbered.in_order(placement.units("core", within_node=True)).tolist()
    return Slots([names[node] for node in numbered.in_order(placement.units("node"))], cores)


def _host_runs(slots: Slots) -> list[tuple[str, int]]:
    return [(host, sum(1 for _ in run)) for host, run in itertools.groupby(slots.hosts)]


def _host_lines(slots: Slots) -> str:
    return "".join(f"{host}:{count}\n" for host, count in _host_runs(slots))


def _core_lists(slots: Slots) -> Iterator[list[int]]:
    by_host: dict[str, list[int]] = {}
    for host, core in zip(slots.hosts, slots.cores or [], strict=False):
        by_host.setdefault(host, []).append(core)
    return iter(by_host.values())


def _binding(slots: Slots, option: str) -> tuple[str, str]:
    """The launcher's option that binds a node's ranks in turn, if all nodes can share one list; else why not."""
    lists = list(_core_lists(slots))
    if not lists:
        return "", "the machine is described without cores: the launcher binds as it likes inside a node"
    longest = max(lists, key=len)
    if any(cores != longest[: len(cores)] for cores in lists):
        return "", "nodes need different core lists, which this launcher cannot take: ranks are placed by node only"
    return " " + option.format(",".join(map(str, longest))), ""


def _mpich(slots: Slots) -> RankFile:
    binding, note = _binding(slots, "-bind-to user:{}")
    if binding and len(_host_runs(slots)) > len(set(slots.hosts)):
        # Seen with MPICH 5.0.2: a host named twice gets its list of cores from the start again.
        binding, note = "", ("hydra counts a host's ranks anew at each of its lines and cannot bind them to different "
                             "cores: ranks are placed by node only")  # fmt: skip
    return RankFile(_host_lines(slots), f"mpiexec -f {{file}}{binding} -n {len(slots.hosts)} PROGRAM", note)


def _intel(slots: Slots) -> RankFile:
    binding, note = _binding(slots, "-genv I_MPI_PIN_PROCESSOR_LIST={}")
    return RankFile(_host_lines(slots), f"mpiexec -machinefile {{file}}{binding} -n {len(slots.hosts)} PROGRAM", note)


def _slurm(slots: Slots) -> RankFile:
    binding, note = _binding(slots, "--cpu-bind=map_cpu:{}")
    text = "".join(f"{host}\n" for host in slots.hosts)
    start = f"SLURM_HOSTFILE={{file}} srun --mpi={{mpi}} --distribution=arbitrary{binding} -n {len(slots.hosts)} PROGRAM"
    return RankFile(text, start, note)


def _openmpi(slots: Slots) -> RankFile:
    # A rank file needs a slot; without cores in the description ranks take a node's cores in turn.
    seen: dict[str, int] = {}
    lines = []
    for rank, host in enumerate(slots.hosts):
        turn = seen[host] = seen.get(host, -1) + 1
        lines.append(f"rank {rank}={host} slot={slots.cores[rank] if slots.cores else turn}\n")
    hosts = ",".join(f"{host}:{count + 1}" for host, count in seen.items())
    note = "" if slots.cores else "the machine is described without cores: a node's ranks take its cores in turn"
    start = f"mpirun --host {hosts} --map-by rankfile:file={{file}} -n {len(slots.hosts)} PROGRAM   (Open MPI 4: -rf {{file}})"
    return RankFile("".join(lines), start, note)


WRITERS: dict[str, Callable[[Slots], RankFile]] = {
    "mpich": _mpich,
    "openmpi": _openmpi,
    "intel": _intel,
    "slurm": _slurm,
}
