"""One thread per rank: ranks already use every core, so library threads would only fight."""

from collections.abc import Mapping

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def single_threaded(env: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Variables to add so that each rank has one thread, and a note; those already set are kept."""
    added = {name: "1" for name in VARIABLES if name not in env}
    kept = [f"{name}={env[name]}" for name in VARIABLES if name in env]
    notes = [f"{', '.join(kept)} kept from the environment"] if kept else []
    if added:
        notes.insert(0, f"{', '.join(added)} set to 1")
    return added, notes
