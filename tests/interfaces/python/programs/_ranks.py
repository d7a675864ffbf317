"""Runs the tests of a program on every rank and reports them on rank 0, one line of JSON each.

A test passes when it passes on every rank. A rank that fails does not wait for the others: where they wait for it, the
launcher's time limit ends the run, and the test that was under way counts as failed.
"""

import json
import sys
import traceback
from collections.abc import Callable

from mpi4py import MPI

COMM = MPI.COMM_WORLD


def seeds(most: int) -> range:
    """Fewer cases where ranks share cores and each collective call takes its time."""
    return range(most if COMM.size <= 2 else max(2, most // 4))


def usable_transports() -> list[str]:
    """Names of those that work here and reach every rank."""
    import parhelion as ph

    return [each.name for each in ph.transports() if not each.unavailable and (each.reach != "rank" or COMM.size == 1)]


def main(tests: dict) -> None:
    for name, test in tests.items():
        if name.startswith("test_"):
            _report(name, _run(test))
    sys.stdout.flush()


def _run(test: Callable[[], None]) -> str:
    try:
        test()
    except BaseException:
        text = f"rank {COMM.rank} of {COMM.size}: {traceback.format_exc()}"
        print(text, file=sys.stderr, flush=True)
        return text
    return ""


def _report(name: str, failure: str) -> None:
    failures = [text for text in COMM.gather(failure) or [] if text]
    if COMM.rank == 0:
        print("RESULT " + json.dumps({"test": name, "failure": "\n".join(failures)}), flush=True)


def refused(kind: type[BaseException], function: Callable, *args, says: str = "", **kwargs) -> None:
    """Every rank must raise exactly `kind`, with `says` in the message."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        outcome = (type(error), str(error))
    else:
        outcome = (None, "nothing was raised")
    for rank, (found, text) in enumerate(COMM.allgather(outcome)):
        assert found is kind, f"rank {rank}: {kind.__name__} expected, got {found and found.__name__}: {text}"
        assert says in text, f"rank {rank}: {says!r} is not in {text!r}"


def totals(mine: dict) -> dict:
    """Over all ranks, the sum of what they have under each key."""
    total = {}
    for each in COMM.allgather(mine):
        for key, part in each.items():
            total[key] = total.get(key, 0) + part
    return total


def on_last(wrong, right):
    """`wrong` on the last rank, `right` on the others: a mistake that one rank makes alone."""
    return wrong if COMM.rank == COMM.size - 1 else right
