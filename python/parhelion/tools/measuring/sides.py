"""What a build is measured against: another flavor, another checkout, or an image of Apptainer, told by what the name is the name of."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...launch import Flavor, find_flavor, flavors
from ..cli.errors import BadInput
from ..machine import collect
from .images import ImageLauncher, is_image, open_image
from .launcher import OwnLauncher, Starter, check_contenders
from .measurement import Measurement

FLAVORS = Path("python", "parhelion", "_flavors")


@dataclass(frozen=True)
class Side:
    """One of two builds that take turns. `name` is what people call it, `environment` what its figures depend on."""

    name: str
    how: Starter
    environment: dict[str, Any]


def this_side(measurement: Measurement) -> Side:
    """The build that would be measured alone."""
    flavor = find_flavor(measurement.flavor, measuring=True)
    check_contenders(flavor, measurement)
    return Side(flavor.name, OwnLauncher(flavor, measurement), collect())


def other_side(text: str, measurement: Measurement) -> Side:
    """What `--against` names; raises `BadInput` with what was tried."""
    here = find_flavor(measurement.flavor, measuring=True).name
    path = Path(text)
    if text in flavors():
        return _flavor(text, find_flavor(text, measuring=True), measurement)
    if is_image(path):
        return _image(path, here, measurement)
    if path.is_dir():
        return _checkout(path.resolve(), here, measurement)
    if path.exists():
        raise BadInput(f"--against {text}: the file is no image: it begins neither as SIF nor as a squashed file system does")
    raise BadInput(f"--against {text}: no flavor of that name is built here (built: {', '.join(flavors()) or 'none'}), and there is no folder and "
                   "no file of that name: give a flavor, a checkout in which `make build` was run, or an image of Apptainer")  # fmt: skip


def _flavor(name: str, flavor: Flavor, measurement: Measurement) -> Side:
    check_contenders(flavor, measurement)
    return Side(name, OwnLauncher(flavor, measurement), collect())


def _checkout(path: Path, here: str, measurement: Measurement) -> Side:
    """The flavor that is measured here, or the one that the checkout has built last."""
    folder = path / FLAVORS
    built = flavors(folder) if folder.is_dir() else {}
    if not built:
        raise BadInput(f"--against {path}: the folder is no built checkout, for {FLAVORS} in it holds no flavor (and no image, "
                       "for it has no .singularity.d): run `make build` there")  # fmt: skip
    flavor = find_flavor(here, folder, measuring=True) if here in built else _default(folder)
    check_contenders(flavor, measurement)
    return Side(f"{path.name}/{flavor.name}", OwnLauncher(flavor, measurement, path / "python"), collect(path))


def _default(folder: Path) -> Flavor:
    """As the checkout itself would choose; our own variable names a flavor of this one."""
    kept = os.environ.pop("PARHELION_FLAVOR", None)
    try:
        return find_flavor(None, folder, measuring=True)
    finally:
        if kept is not None:
            os.environ["PARHELION_FLAVOR"] = kept


def _image(path: Path, here: str, measurement: Measurement) -> Side:
    image = open_image(path.resolve(), here)
    environment = {**collect(), **(image.environment or {"software": None})}
    return Side(path.name, ImageLauncher(image, measurement), environment)
