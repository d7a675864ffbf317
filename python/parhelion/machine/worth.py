"""The few things that are most worth doing, out of all that was found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..errors import remedy_of_no_build
from ..launch import Flavor, inside_launcher
from ..launch.kinds import KINDS
from .checks import most_missed
from .probes import Finding
from .launchers import Launcher, why_not

MOST = 3


def worth_doing(flavors: Sequence[Flavor], unfit: dict[str, str], found: Sequence[Launcher], findings: Iterable[Finding], crowd: str | None) -> list[str]:
    """At most three sentences, the most useful first. `unfit`: builds by name whose MPI mpi4py does not load, and why; `crowd`: where ranks
    share cores, what to say of it."""
    by_name = {finding.name: finding for finding in findings if finding.remedy}
    missed, welcome = (_remedies(by_name, most_missed(welcome=each)) for each in (False, True))
    candidates = [*_builds(flavors, unfit), *_launchers(flavors, found), *([crowd] if crowd else []), *missed, *welcome,
                  "measure what you will run, such as `parhelion bench halo --quick`"]  # fmt: skip
    return candidates[:MOST]


def _builds(flavors: Sequence[Flavor], unfit: dict[str, str]) -> Iterator[str]:
    if not flavors:
        yield f"no build can be used here: {remedy_of_no_build()}"
    if len(unfit) < len(flavors):
        return  # Python loads the one that fits; mpi4py's wheels know no standard ABI, whose build programs in other languages use
    for name, why in unfit.items():
        yield f"let mpi4py load the MPI of build {name} ({why}): start Python programs with `parhelion run`, or install mpi4py's wheel"


def _launchers(flavors: Sequence[Flavor], found: Sequence[Launcher]) -> Iterator[str]:
    for wrong in filter(None, (why_not(flavor, found) for flavor in flavors[:1])):
        yield f"start ranks with `parhelion run -n RANKS PROGRAM`, which takes the right launcher: {wrong}"
    srun = next((each for each in found if each.whose.startswith("Slurm") and each.offers), None)
    if srun and flavors and KINDS[flavors[0].kind].pmi and flavors[0].kind not in srun.starts:
        yield (f"in jobs of Slurm start ranks with `parhelion run`, which takes {flavors[0].launcher} there: srun offers {srun.offers}, and "
               f"build {flavors[0].name} needs --mpi={KINDS[flavors[0].kind].pmi}")  # fmt: skip
    here = inside_launcher()
    if here and here.size and here.size > 1:
        yield f"look at one rank: a launcher started this {here.size} times, and each does the same; start it with one task"


def _remedies(by_name: Mapping[str, Finding], names: Iterable[str]) -> Iterator[str]:
    return (f"{by_name[name].remedy} ({name}, for {by_name[name].needed_for})" for name in names if name in by_name)
