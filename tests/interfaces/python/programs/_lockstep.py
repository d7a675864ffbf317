"""Cases that Hypothesis makes up on rank 0 and every rank checks together."""

import traceback

from _ranks import COMM
from hypothesis import HealthCheck, Phase, given, settings


def check_together(cases, check, examples):
    """Runs `check(case)` on every rank for cases of a strategy; a failure anywhere is shrunk on rank 0 and raised everywhere."""
    failure = _lead(cases, check, examples) if COMM.rank == 0 else _follow(check)
    failure = COMM.bcast(failure)
    assert not failure, failure


def _lead(cases, check, examples):
    @settings(max_examples=examples, deadline=None, database=None, derandomize=True, print_blob=False,
              suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink])
    @given(cases)
    def run(case):
        told = _everywhere(check, COMM.bcast(case))
        assert not told, f"{told}\ncase: {case}"

    try:
        run()
    except AssertionError as error:
        return str(error)
    finally:
        COMM.bcast(None)
    return ""


def _follow(check):
    while (case := COMM.bcast(None)) is not None:
        _everywhere(check, case)


def _everywhere(check, case):
    """What the ranks had to complain of."""
    try:
        check(case)
        mine = ""
    except Exception:
        mine = f"rank {COMM.rank} of {COMM.size}: {traceback.format_exc()}"
    return "\n".join(filter(None, COMM.allgather(mine)))
