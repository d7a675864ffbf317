"""`parhelion model`: the group."""

import click

from ...tools.cli.lazy import LazyGroup

VERBS = {
    "published": ("parhelion.studies.model.verbs", "published", "Fit and check the model on the published figures."),
    "fit": ("parhelion.studies.model.verbs", "fit", "Fit the model to runs that were measured here."),
    "predict": ("parhelion.studies.model.verbs", "predict", "Predict an exchange in blocked order and placed."),
}


@click.group(cls=LazyGroup, table=VERBS)
def model() -> None:
    """Predict what an exchange costs, from bytes and messages per level of the machine."""
