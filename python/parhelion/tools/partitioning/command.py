"""`parhelion partition` and `parhelion inspect`."""

from pathlib import Path

import click

from ..cli.options import MOST_RANKS, RANKS, Names, Whole
from ..cli.output import Output, json_option


@click.command()
@click.argument("mesh", type=click.Path(path_type=Path))
@click.option("--parts", type=Whole(1, MOST_RANKS), required=True, help="Number of parts, one per rank.")
@click.option("--entities", type=Names(), default="cells", show_default=True, help="Of cells, faces, edges, nodes.")
@click.option("--adjacency", type=click.Choice(["faces", "nodes"]), default="faces", show_default=True,
              help="Cells are neighbors across these.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="FOLDER", help="Folder for what this writes [here].")
@click.option("--name", help="Name of the data sets [the mesh file's]; no slash, no dot or dash in front.")
@click.option("--seed", type=Whole(0, 2**31 - 1), default=0, show_default=True, help="Seed of what is random: here METIS.")
@json_option
def partition(
    mesh: Path, parts: int, entities: tuple[str, ...], adjacency: str, out: Path,
    name: str | None, seed: int, json_file: str | None,
) -> None:
    """Partition MESH, any file that meshio reads, with METIS, and write index maps of its entities.

    The folders NAME-PARTS that it writes are what `parhelion bench gather` takes.
    """  # fmt: skip
    from .mesh_to_maps import partition_mesh
    from .inspection import partition_text

    output = Output(json_file)
    summary = partition_mesh(mesh, parts, entities, out, adjacency=adjacency, name=name, seed=seed)
    output.console.print(partition_text(summary), markup=False, soft_wrap=True)
    output.document(summary)


@click.command()
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DATASET...")
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [any; sets for another number are refused].")
@json_option
def inspect(datasets: tuple[Path, ...], ranks: int | None, json_file: str | None) -> None:
    """Read and check index maps, and say what they hold."""
    from .inspection import inspect as inspect_maps, inspection_text

    output = Output(json_file)
    summaries = [inspect_maps(dataset, ranks) for dataset in datasets]
    for summary in summaries:
        output.console.print(inspection_text(summary), markup=False, soft_wrap=True)
    output.document({"schema": "parhelion.inspection/1", "datasets": summaries})
