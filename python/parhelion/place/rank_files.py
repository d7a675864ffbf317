"""Rank files that make launchers follow a placement."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, groupby

from ..base.files import write_whole
from ..launch import BuildError, find_build
from ..launch.kinds import KINDS
from ..placement import GraphPlacement, Numbering, Placement, PlacementError

# Option that binds a node's ranks in turn, and launch command with a file. `{mpi}`: srun's interface to the MPI.
LAUNCHERS = {
    "mpich": ("-bind-to user:{}", "mpiexec -f {file}{binding} -n {ranks} PROGRAM"),
    "intel": ("-genv I_MPI_PIN_PROCESSOR_LIST={}", "mpiexec -machinefile {file}{binding} -n {ranks} PROGRAM"),
    "slurm": ("--cpu-bind=map_cpu:{}", "SLURM_HOSTFILE={file} srun --mpi={mpi} --distribution=arbitrary{binding} -n {ranks} PROGRAM"),
    "openmpi": ("", "mpirun --host {hosts} --map-by rankfile:file={file} -n {ranks} PROGRAM   (Open MPI 4: -rf {file})"),
}


@dataclass(frozen=True)
class RankFile:
    """Text of a rank file, launch command, and note on what it leaves open."""

    text: str
    start: str
    note: str = ""


def write_rank_file(target: str, placement: Placement | GraphPlacement, numbering: str = "", hosts: Sequence[str] = ()) -> list[str]:
    kind, _, path = target.partition(":")
    if not path:
        raise PlacementError(f"--rank-file {target}: write KIND:FILE, such as mpich:hosts.txt")
    made = rank_file(kind, placement, numbering, hosts, path)
    write_whole(path, made.text.encode())
    return [f"{path}: start with  {made.start}", *([f"  {made.note}"] if made.note else [])]


def rank_file(kind: str, placement: Placement | GraphPlacement, numbering: str = "", hosts: Sequence[str] = (), file: str = "FILE") -> RankFile:
    """Rank file for a launcher of `LAUNCHERS`. `numbering` maps ranks to grid points; unnamed nodes are node0, node1, …"""
    if kind not in LAUNCHERS:
        raise PlacementError(f"no rank file is known for '{kind}': choose from {', '.join(LAUNCHERS)}")
    names = list(hosts) or [f"node{n}" for n in range(placement.machine.nodes)]
    if len(names) != placement.machine.nodes:
        raise PlacementError(f"{len(names)} hosts are named for a machine of {placement.machine.nodes} nodes")
    numbered = Numbering(placement.grid, numbering)
    hosts = [names[node] for node in numbered.in_order(placement.units("node"))]
    known = "core" in placement.machine.levels
    cores = numbered.in_order(placement.units("core", within_node=True)).tolist() if known else []
    runs = [(host, len(list(run))) for host, run in groupby(hosts)]
    if kind == "openmpi":
        # A rank file needs slots; without cores in the topology, ranks take a node's cores in turn.
        turns = {name: count() for name in names}
        slots = cores or [next(turns[host]) for host in hosts]
        text = "".join(f"rank {rank}={host} slot={slot}\n" for rank, (host, slot) in enumerate(zip(hosts, slots, strict=True)))
        binding, note = "", "" if known else "the machine is described without cores: a node's ranks take its cores in turn"
    else:
        text = "".join(f"{host}\n" for host in hosts) if kind == "slurm" else "".join(f"{host}:{ranks}\n" for host, ranks in runs)
        binding, note = _binding(LAUNCHERS[kind][0], hosts, cores)
    if kind == "mpich" and binding and len(runs) > len(set(hosts)):
        # MPICH 5.0.2 restarts a host's core list each time that the file names the host.
        binding, note = "", "hydra counts a host's ranks anew at each of its lines and cannot bind them to different cores: ranks are placed by node only"
    try:
        mpi = KINDS[find_build().kind].pmi or "pmi2"
    except BuildError:
        mpi = "pmi2"
    counted = ",".join(f"{host}:{ranks}" for host, ranks in Counter(hosts).items())
    return RankFile(text, LAUNCHERS[kind][1].format(file=file, binding=binding, ranks=len(hosts), mpi=mpi, hosts=counted), note)


def _binding(option: str, hosts: Sequence[str], cores: list[int]) -> tuple[str, str]:
    if not cores:
        return "", "the machine is described without cores: the launcher binds as it likes inside a node"
    by_host: dict[str, list[int]] = {}
    for host, core in zip(hosts, cores, strict=True):
        by_host.setdefault(host, []).append(core)
    longest = max(by_host.values(), key=len)
    if any(each != longest[: len(each)] for each in by_host.values()):
        return "", "nodes need different core lists, which this launcher cannot take: ranks are placed by node only"
    return " " + option.format(",".join(map(str, longest))), ""
