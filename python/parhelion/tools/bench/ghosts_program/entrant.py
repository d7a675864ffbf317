"""A contender on its way through a case.

What the measuring program does in bench/arrivals.cpp (how far apart the ranks were in a batch, and whom the others waited for) is done here
in Python; messages are counted by level of the machine.
"""

import time
from collections import Counter
from typing import Any

import numpy as np
from mpi4py import MPI

from ....placement import Machine
from .case import Case, Skipped
from .contenders import Contender
from .precision import half_width_of_median

MOST_PARTS = 8  # of a batch: each costs a call of Python


def parts_of(exchanges: int) -> list[int]:
    """The exchanges of each part."""
    count = min(exchanges, MOST_PARTS)
    return [exchanges * (part + 1) // count - exchanges * part // count for part in range(count)]


def skew(times: list[list[float]], exchanges: int, comm: MPI.Intracomm) -> dict[str, Any]:
    """`skew_s` and `last_rank` of a case line; nothing but on rank 0. Collective.

    `times`: per sample this rank's clock at the begin and behind each part, comparable on one host; ranks of different hosts are
    compared by the time since the first rank of their host began.
    """
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    begins = np.array([sample[0] for sample in times])
    node.Allreduce(MPI.IN_PLACE, begins, MPI.MIN)
    node.Free()
    every = comm.gather(np.array(times) - begins[:, None])
    if every is None:
        return {}
    by_rank = np.stack(every)  # by rank, sample and moment
    standing_for = np.array([1] + parts_of(exchanges))
    waits = standing_for * (by_rank.max(axis=0) - by_rank.min(axis=0))
    last = by_rank.argmax(axis=0)
    whole = by_rank[:, :, -1].max(axis=0) - by_rank[:, :, 0].min(axis=0)  # what was seen once may stand for too many
    return {"skew_s": (np.minimum(waits.sum(axis=1), whole) / exchanges).tolist(), "last_rank": list(map(_awaited, last, waits))}


def _awaited(last: np.ndarray, waits: np.ndarray) -> int:
    """The rank for which the others have waited longest in all."""
    total: Counter[int] = Counter()
    for rank, wait in zip(last.tolist(), waits.tolist(), strict=True):
        total[rank] += wait
    return max(total, key=lambda rank: total[rank])


def count_by_level(case: Case) -> dict[str, Any]:
    """The record's `traffic_by_level`, of one message to each rank that wants rows. Collective."""
    comm = case.comm
    machine, position = Machine.discovered(comm)
    positions = comm.allgather(position)
    names = ["own_rank", *reversed(machine.levels), "other_node"]
    sums = np.zeros((len(names), 2), np.int64)
    for rank, rows in case.sent:
        sums[names.index(machine.innermost(position, positions[rank]) or "other_node")] += 1, len(rows) * case.row_bytes
    leaving = np.zeros((machine.nodes, 2), np.int64)
    leaving[machine.unit("node", position)] = sums[-1]
    told = dict(zip(names, comm.allreduce(sums))) | {"busiest_node": comm.allreduce(leaving).max(axis=0)}
    return {"traffic_by_level": {name: {"messages": int(messages), "bytes": int(size)} for name, (messages, size) in told.items()}}


MOST_ITERATIONS = 1_000_000
LOOK_EVERY = 5


class Entrant:
    """All calls are collective; after each the ranks agree on whether it is still in the race."""

    def __init__(self, contender: Contender, case: Case) -> None:
        self.comm = case.comm
        self.line: dict[str, Any] = {
            "contender": contender.name, "role": contender.role, "verified": False, "error": None, "skipped": None, "iterations": 0,
        }  # fmt: skip
        self.samples: list[float] = []
        self.arrivals: list[list[float]] = []
        self.in_exchange: list[float] = []  # beside each sample, of whole applications
        self.precise = False
        self.turn = 0
        self.sends = False  # messages, one to each rank that wants rows
        self.made: Any = None
        start = time.perf_counter()
        self._attempt(lambda: setattr(self, "made", contender.make(case)))
        setup_s = time.perf_counter() - start
        made: Any = self.made
        if hasattr(made, "setup_s"):  # of a whole application its exchange alone
            setup_s = made.setup_s()
        self.line["setup_s"] = {"plan": self._slowest(setup_s)}
        if not self.in_race:
            self.made = None

    @property
    def in_race(self) -> bool:
        return self.line["error"] is None and self.line["skipped"] is None

    def verify(self, exchanges: int) -> None:
        """New values, poisoned ghosts, so many exchanges, every element compared."""
        self.turn += 1
        wrong = [0]

        def work() -> None:
            self.made.rows.refresh(self.turn)
            self.comm.Barrier()
            start = time.perf_counter()
            self.made.run(exchanges)
            if self.turn == 1:
                self.line["setup_s"]["first"] = time.perf_counter() - start
            wrong[0] = self.made.rows.count_wrong(self.turn)
            self.comm.Barrier()

        self._attempt(work)
        total = self.comm.allreduce(wrong[0])
        self.line["verified"] = self.in_race and total == 0
        if total:
            self.line["error"] = self.line["error"] or f"{total} elements were wrong after an exchange"

    def choose_iterations(self, least_s: float) -> None:
        exchanges = 1
        self._batch(1)
        while (seconds := self._slowest(self._batch(exchanges))) < least_s and exchanges < MOST_ITERATIONS:
            wanted = int(1.25 * least_s / max(seconds / exchanges, 1e-9)) + 1
            exchanges = min(max(wanted, exchanges + 1), MOST_ITERATIONS)
        self.line["iterations"] = exchanges

    def take_sample(self) -> None:
        self.made.run(1)  # what the contender before has left in the caches is gone
        self.samples.append(self._watched_batch() / self.line["iterations"])
        if hasattr(self.made, "step_held"):
            self.in_exchange.append(self.comm.allreduce(self.made.step_held()) / self.comm.size)

    def is_precise(self, share: float) -> bool:
        """Whether the samples so far tell the median to within `share` of it (`half_width_of_median`); looked at after every fifth."""
        if not self.precise and len(self.samples) % LOOK_EVERY == 0:
            slowest = np.empty(len(self.samples))
            self.comm.Allreduce(np.array(self.samples), slowest, MPI.MAX)
            self.precise = half_width_of_median(slowest) <= share
        return self.precise

    def finish(self) -> dict[str, Any]:
        """The line of the record, complete on rank 0."""
        self.line["setup_s"] = {part: self._slowest(seconds) for part, seconds in self.line["setup_s"].items()}
        if self.in_race:
            self.line |= {"explain": self.made.explain()} | self._traffic()
            if self.in_exchange:
                self.line |= {"exchange_s": self.in_exchange, "exchange_lines": self.made.exchange_lines()}
        by_rank = self.comm.gather(self.samples) or []
        slowest = np.max(by_rank, axis=0).tolist() if by_rank and by_rank[0] else []
        if self.made:
            self.made.free()
        self.made = None
        apart = skew(self.arrivals, self.line["iterations"], self.comm) if self.in_race else {}
        return self.line | {"samples_by_rank": by_rank, "samples": slowest, "probe_ns": []} | apart

    def _traffic(self) -> dict[str, int]:
        sent = self.made.traffic()
        self.sends = bool(self.comm.allreduce(int(bool(sent and sent[1])), MPI.MAX))
        return {name: self.comm.allreduce(value, MPI.MAX) for name, value in zip(("bytes", "messages"), sent or ())}

    def _batch(self, exchanges: int) -> float:
        self.comm.Barrier()
        start = time.perf_counter()
        self.made.run(exchanges)
        return time.perf_counter() - start

    def _watched_batch(self) -> float:
        """A batch in parts, between which nothing happens but a look at the clock."""
        self.comm.Barrier()
        times = [time.perf_counter()]
        for exchanges in parts_of(self.line["iterations"]):
            self.made.run(exchanges)
            times.append(time.perf_counter())
        self.arrivals.append(times)
        return times[-1] - times[0]

    def _slowest(self, mine: float) -> float:
        return self.comm.allreduce(mine, MPI.MAX)

    def _attempt(self, work: Any) -> None:
        told: tuple[str, str] | None = None
        try:
            work()
        except Skipped as reason:
            told = ("skipped", str(reason))
        except Exception as error:
            told = ("error", f"{type(error).__name__}: {error}")
        for kind, text in filter(None, self.comm.allgather(told)):
            self.line[kind] = self.line[kind] or text
