"""From the job to the record."""

import json
import os
import random
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ....launch.cores import core_by_core, usable_cores
from ....launch.disk import writing

OK, WRONG_VALUE, BAD_INPUT, FAILED = 0, 1, 2, 3
VERIFY_ROUNDS = 3


class Program(NamedTuple):
    """What is measured: cases by `read(case of the job, communicator)`, contenders, and the names of those that need no naming."""

    name: str
    read: Callable[[dict[str, Any], Any], Any]
    contenders: Callable[[], list[Any]]
    usual: set[str]


def main(imports: dict[str, float], program: Program) -> int:
    """Collective over MPI.COMM_WORLD."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD.Dup()
    job = _job(sys.argv[1:])
    record = _Record(job["json"] if comm.rank == 0 else os.devnull, job["launch"])
    try:
        _bind(comm, job["bind"])
        record.write("launch", _launch(comm, imports) | ({"pair": job["pair"]} if "pair" in job else {}))
        status = _measure(comm, job, record, program)
    except ValueError as error:
        if comm.rank == 0:
            print(f"parhelion bench {program.name}: {error}", file=sys.stderr)
        status = BAD_INPUT
    except OSError as error:  # on this rank alone: the others would wait for ever
        print(f"parhelion.ghostbench: cannot use {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(FAILED)
    record.write("end", {"status": status})
    return status


def _job(words: list[str]) -> dict[str, Any]:
    """The options of phl-bench, as far as programs in Python have them."""
    usual = {"bind": True, "contenders": [], "params": {}, "per_node": False}
    job, cases, common = usual, list[dict[str, Any]](), None
    for word in words[1:]:
        name, _, text = word.removeprefix("--").partition("=")
        key = name.replace("-", "_")
        if name == "case":
            common = job if common is None else common
            job = {**common}
            cases.append(job)
        elif name == "param":
            job["params"] |= [text.split("=", 1)]
        elif name in ("grid", "contenders"):
            job[key] = [int(part) if part.isdigit() else part for part in text.split(",")]
        elif name in ("no-bind", "per-node"):
            job |= {"bind": False} if name == "no-bind" else {"per_node": True}
        else:
            job[key] = text if not text.replace(".", "").replace("e-", "").isdigit() else json.loads(text)
    return job | {"cases": cases or [job]}


class _Record:
    """Flushed after every line: a crash loses no finished case."""

    def __init__(self, path: str, launch: int) -> None:
        self.file = open(path, "a", encoding="utf-8")
        self.launch = launch

    def write(self, kind: str, line: dict[str, Any]) -> None:
        with writing(self.file.name):
            self.file.write(json.dumps({"type": kind, "schema": "parhelion.record/1", "launch": self.launch} | line) + "\n")
            self.file.flush()


def _measure(comm: Any, job: dict[str, Any], record: _Record, program: Program) -> int:
    chosen = [each for each in program.contenders() if each.name in (job["contenders"] or program.usual)]
    cases = [program.read(case, comm) for case in job["cases"]]
    record.write("plan", {"cases": len(cases) * len(chosen)})
    status = OK
    for case in cases:
        params = case.params() | job.get("params", {})
        for line in _run_case(case, chosen, job):
            record.write("case", {"name": program.name, "params": params} | line)
            if not line["skipped"] and not line["verified"]:
                status = WRONG_VALUE
    return status


def _run_case(case: Any, chosen: list[Any], job: dict[str, Any]) -> list[dict[str, Any]]:
    """Contenders take turns in every repetition, each time in another order, so that a drift meets all of them.

    With a precision, those go on whose median is not known well enough after the repetitions.
    """
    from .entrant import Entrant, count_by_level

    entrants = [Entrant(each, case) for each in chosen]
    by_level = count_by_level(case) if job.get("per_node") else {}
    for entrant in entrants:
        for _ in range(VERIFY_ROUNDS):
            if entrant.in_race:
                entrant.verify(1)
        if entrant.in_race:
            entrant.choose_iterations(job["min_sample_s"])
    _take_turns(entrants, job)
    for entrant in entrants:
        if entrant.in_race:
            entrant.verify(entrant.line["iterations"])
    return [entrant.finish() | (by_level if entrant.sends else {}) for entrant in entrants]


def _take_turns(entrants: list[Any], job: dict[str, Any]) -> None:
    draw = random.Random(f"{job['seed']}/{job['launch']}")
    least, precision = job["repetitions"], job.get("precision", 0.0)
    for repetition in range(max(least, job.get("most_repetitions", least)) if precision else least):
        waiting = [each for each in draw.sample(entrants, len(entrants))
                   if each.in_race and not (repetition >= least and each.is_precise(precision))]  # fmt: skip
        for entrant in waiting:
            entrant.take_sample()
        if not waiting:
            return


def _bind(comm: Any, bind: bool) -> None:
    """One core for each rank of a node, where the launcher has left all of them to all ranks."""
    from mpi4py import MPI

    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    mine = core_by_core(os.sched_getaffinity(0))
    free = len(mine) > 1 and all(other == mine for other in node.allgather(mine))
    if bind and comm.allreduce(int(free)) == comm.size:
        os.sched_setaffinity(0, {mine[node.rank % len(mine)]})
    node.Free()


def _cores_of_node(comm: Any) -> int:
    """Cores that the ranks of this rank's node have between them."""
    from mpi4py import MPI

    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    cores = usable_cores(set().union(*node.allgather(os.sched_getaffinity(0))))
    node.Free()
    return cores


def _launch(comm: Any, imports: dict[str, float]) -> dict[str, Any]:
    import platform

    from mpi4py import MPI

    from ...records.variables import variables

    every = comm.gather(imports) or []
    hosts = comm.gather(platform.node()) or []
    cores = comm.gather(_cores_of_node(comm)) or []
    with open("/proc/self/maps", encoding="utf-8") as maps:
        libraries = sorted({line.split(maxsplit=5)[5].strip() for line in maps if ".so" in line})
    return {
        "ranks": comm.size,
        "mpi": {"library_version": MPI.Get_library_version(), "standard": ".".join(map(str, MPI.Get_version()))},
        "libraries": libraries,
        "binding": comm.gather(sorted(os.sched_getaffinity(0))) or [],
        "hosts": hosts,
        "cores": {host: min(count for other, count in zip(hosts, cores, strict=True) if other == host) for host in hosts},
        "cvars": variables(),
        "imports": {name: {"mean": sum(each[name] for each in every) / len(every), "max": max(each[name] for each in every)}
                    for name in imports} if every else None,
    }  # fmt: skip
