"""`parhelion bench image`."""

import re
from pathlib import Path

import click

from .errors import BadInput
from .options import MOST_LAUNCHES, PanelCommand, RANKS, SECONDS, Whole, flavor_option, json_option, labels_option, no_bind_option, options_of
from ..show.terminal import Output
from ..record.folder import parse_labels

LAUNCHES, QUICK_LAUNCHES = 5, 2
STARTED, OUTPUT = map(options_of, ("Builds and ranks", "Output"))


@click.command(cls=PanelCommand)
@click.argument("name")
@OUTPUT("--out", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="Folder for what this writes [images/NAME].")
@STARTED("-n", "-np", "--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@flavor_option
@STARTED("--launches", type=Whole(1, MOST_LAUNCHES), help="Launches [5; quick: 2].")
@click.option("--quick", is_flag=True, help="A short run: fewer launches and samples.")
@click.option("--dataset", "datasets", type=click.Path(path_type=Path), multiple=True, metavar="DATASET",
              help="Index maps for the gather; may be repeated [a demo mesh, made here].")
@click.option("--no-profile", is_flag=True, help="Take no profiles.")
@no_bind_option
@STARTED("--timeout", type=SECONDS, default=300.0, show_default=True, metavar="SECONDS", help="Stop ranks after so long: here without a finished case.")
@labels_option
@json_option
def run_image(
    name: str, out: Path | None, ranks: int | None, flavor: str | None, launches: int | None, quick: bool, datasets: tuple[Path, ...],
    no_profile: bool, no_bind: bool, timeout: float, labels: tuple[str, ...], json_file: str | None,
) -> None:
    """Measure an image as a whole and call it NAME: alltoall with its first calls, halo, gather, set-up, a profile of each
    where perf is, the environment, loaded libraries with their checksums, and the channels that the MPI has chosen.

    \b
    parhelion bench image v0.4 --label network=OFI --label reservation=full
    parhelion compare images/v0.3 images/v0.4

    A part that cannot be had here is left out with its reason. Exit status as for every benchmark.
    """  # fmt: skip
    from ..measure.cases import usual_ranks
    from ..measure.matrix import MatrixRequest
    from ..measure.image import ImageRequest, take_image

    if click.get_current_context().find_object(MatrixRequest):
        raise BadInput("an image is measured under one build and network: leave out --flavors and --networks, or measure an image for each")
    output = Output(json_file)
    folder = out or Path("images") / _folder_name(name)
    request = ImageRequest(name, folder, ranks or usual_ranks(), flavor, launches or (QUICK_LAUNCHES if quick else LAUNCHES), quick,
                           not no_profile, not no_bind, datasets, parse_labels(labels), timeout)  # fmt: skip
    image, status = take_image(request, output)
    output.console.print(f"image: {folder}", markup=False, soft_wrap=True)
    output.document({"schema": image.schema, "folder": str(folder), "image": name, "ranks": image.ranks, "flavor": image.flavor,
                     "labels": image.labels, "parts": image.parts, "providers": image.providers})  # fmt: skip
    raise SystemExit(status)


def _folder_name(name: str) -> str:
    plain = re.sub(r"[^\w.-]", "_", name).strip("._")
    if not plain:
        raise BadInput(f"{name!r} makes no name of a folder: give the image a name with letters, or a folder with --out")
    return plain
