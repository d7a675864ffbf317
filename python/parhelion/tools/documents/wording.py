"""What a benchmark's figures are figures of, in words."""

from typing import NamedTuple


class Wording(NamedTuple):
    """`title` of a page; `of` is what a time is the time of; `base` is what ratios are taken against."""

    title: str
    of: str = "exchange"
    base: str = "the best hand-written baseline"
    compared: bool = True


WORDING = {
    "halo": Wording("Halo exchange"),
    "gather": Wording("Index-map gather"),
    "alltoall": Wording("Alltoall", "call", "MPI_Alltoall"),
    "ghosts": Wording("Ghost rows"),
    "osu": Wording("OSU Micro-Benchmarks"),
    "imb": Wording("Intel MPI Benchmarks"),
    "apps": Wording("Whole applications", "step"),
    "setup": Wording("Set-up", "stage", "", compared=False),
}


def wording(benchmark: str) -> Wording:
    """The words for a benchmark; for one that is not known, its name."""
    return WORDING.get(benchmark, Wording(benchmark))
