"""`parhelion image`."""

import click

from ..cli.lazy import LazyGroup

VERBS = {
    "run": ("parhelion.tools.images.run.command", "run_image", "Measure an image as a whole: alltoall, halo, gather, set-up, profiles, libraries."),
    "compare": ("parhelion.tools.images.compare.command", "compare_images", "Say what changed between two images, and what could be why."),
}


@click.group(cls=LazyGroup, table=VERBS)
def image() -> None:
    """The image test: is another image (MPI, libraries, settings, machine) slower, where, and why?"""
