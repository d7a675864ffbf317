"""`parhelion partition`: partition a mesh, or inspect index maps."""

from pathlib import Path

import click

from .options import MOST_RANKS, Names, RANKS, Whole, json_option
from ..errors import InputError
from ..show.terminal import Output


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MESH | DATASET...")
@click.option("--parts", type=Whole(1, MOST_RANKS), help="Number of parts, one per rank [data sets are checked].")
@click.option("--entities", type=Names(), default="cells", show_default=True, help="Of cells, faces, edges, nodes.")
@click.option("--adjacency", type=click.Choice(["faces", "nodes"]), default="faces", show_default=True,
              help="Cells are neighbors across these.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="FOLDER", help="Folder for what this writes [here].")
@click.option("--name", help="Name of the data sets [the mesh file's]; no slash, no dot or dash in front.")
@click.option("--seed", type=Whole(0, 2**31 - 1), default=0, show_default=True, help="Seed of what is random: here METIS.")
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [any; sets for another number are refused].")
@json_option
def partition(
    paths: tuple[Path, ...], parts: int | None, entities: tuple[str, ...], adjacency: str, out: Path,
    name: str | None, seed: int, ranks: int | None, json_file: str | None,
) -> None:
    """Partition MESH, any file that meshio reads, with METIS, and write index maps of its entities; without --parts, check index maps.

    \b
    parhelion partition casting.msh --parts 12
    parhelion partition casting-12

    The folders NAME-PARTS that it writes are what `parhelion bench gather` takes.
    """
    from ..mesh.maps import IndexMapError, inspect
    from ..mesh.partition import partition_mesh
    from ..show.placement import inspection_blocks, partition_blocks

    output = Output(json_file)
    if parts is not None:
        if len(paths) > 1 or ranks:
            raise InputError("--parts is for one mesh, and says for how many ranks: leave out --ranks and other paths")
        summary = partition_mesh(paths[0], parts, entities, out, adjacency=adjacency, name=name, seed=seed)
        output.show(partition_blocks(summary))
        output.document(summary)
        return
    try:
        summaries = [inspect(path, ranks) for path in paths]
    except IndexMapError as error:
        raise IndexMapError(f"{error} (to partition a mesh, give --parts)") from None
    output.show([block for summary in summaries for block in inspection_blocks(summary)])
    output.document({"schema": "parhelion.inspection/1", "datasets": summaries})
