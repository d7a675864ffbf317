"""`parhelion bench gather`."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import click

from ..launch import find_flavor
from ..cli.errors import BadInput
from ..cli.options import PanelCommand
from ..cli.options import ELEMENT_NAMES, MOST_COMPONENTS, MeasuringOptions, Numbers, RANKS, measuring_options, per_node_option
from ..show.terminal import Output
from .measurement import Group
from .cases import PLUG_INS, Peers, contenders_of

COARRAY = "coarray"
PEERS = (*PLUG_INS["gather"], COARRAY)
WORDS: dict[str, tuple[str, ...]] = {"built": PEERS, "all": PEERS, "none": ()}


@click.command(cls=PanelCommand)
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DATASET...")
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [what each set was partitioned for].")
@click.option("--element", type=ELEMENT_NAMES, default="int32", show_default=True, help="Element type.")
@click.option("--components", type=Numbers(high=MOST_COMPONENTS), default="1", show_default=True, help="Components per cell.")
@click.option("--peers", type=Peers(PEERS, tuple(WORDS)), default=None, metavar="NAMES",
              help=f"Other libraries beside the rest: {', '.join(PEERS)}, all, none, as `make peers` builds them [those built; with --contenders: none].")
@per_node_option
@measuring_options
def gather(
    options: MeasuringOptions,
    datasets: tuple[Path, ...],
    ranks: int | None,
    element: tuple[str, ...],
    components: tuple[int, ...],
    peers: tuple[str, ...] | None,
    per_node: bool,
) -> None:
    """Index-map gather on partitioned meshes beside hand-written MPI, every ghost verified.

    DATASET is a folder with one file per rank, `data001` …, as `parhelion partition` writes it. Each set is run on
    the number of ranks that it was partitioned for.
    """  # fmt: skip
    from .run import run
    from .coarrays import CoarrayContenders, coarray_builds

    groups = gather_groups(datasets, ranks, element, components)
    flavor = find_flavor(options.flavor, measuring=True)
    if options.against and COARRAY in (peers or ()):
        raise BadInput("--peers coarray: its programs are the same beside every build; leave out --against, or the coarrays")
    names = peers or ("none" if options.contenders else "built",)
    wanted = [name for name in WORDS.get(names[0], names) if name != COARRAY or not options.against]
    builds = coarray_builds() if COARRAY in wanted else []
    missing = [name for name in wanted if not (builds if name == COARRAY else (flavor.directory / f"libphl_peer_{name}.so").exists())]
    if missing:
        text = f"not built for flavor {flavor.name}, see docs/measuring.md: {', '.join(missing)}"
        Output(options.json_file).errors.print(text, style="dim", soft_wrap=True)
    # Who asks for a library by name is told by the measuring program, too, that it is not there.
    run_now = [name for name in wanted if name != COARRAY and (names[0] != "built" or name not in missing)]
    run("gather", groups, options.beside(contenders_of("gather", run_now)), per_node=per_node,
        companions=(CoarrayContenders(builds),) if builds else ())


def gather_groups(
    datasets: tuple[Path, ...], ranks: int | None, element: tuple[str, ...], components: tuple[int, ...]
) -> list[Group]:
    """One group per rank count, the fewest ranks first; every data set is read and checked before anything starts."""
    groups: dict[int, list[dict[str, object]]] = {}
    told_apart = told_apart_by([dataset.resolve() for dataset in datasets])
    for dataset, apart in told_apart.items():
        cases = groups.setdefault(_checked_ranks(dataset, ranks), [])
        for kind, each in product(element, components):
            cases.append({"dataset": str(dataset), **apart, "element": kind, "components": each})
    return [Group(count, cases) for count, cases in sorted(groups.items())]


def told_apart_by(datasets: Sequence[Path]) -> dict[Path, dict[str, str]]:
    """Each data set once; those of one name with a parameter `from`, the folders in which they lie, as far as they differ.

    Tables and comparisons know a data set by its name, since its place is another one on each machine.
    """
    return {dataset: _apart(dataset, [other for other in datasets if other.name == dataset.name != "" and other != dataset]) for dataset in datasets}


def _apart(dataset: Path, others: Sequence[Path]) -> dict[str, str]:
    if not others:
        return {}
    depths = range(1, len(dataset.parent.parts) + 1)
    depth = next(depth for depth in depths if all(dataset.parent.parts[-depth:] != other.parent.parts[-depth:] for other in others))
    return {"from": ":".join(part.strip("/") for part in dataset.parent.parts[-depth:])}


def _checked_ranks(dataset: Path, ranks: int | None) -> int:
    from ..mesh.maps import read_index_maps

    return read_index_maps(dataset, ranks).ranks
