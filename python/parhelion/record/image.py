"""An image's folder: `image.json`, a run folder per benchmark, and `profile-…`, a profile per benchmark that was sampled."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ..errors import InputError
from .folder import empty_folder, read_document, write_document
from .profile import FILE_NAME as PROFILE
from .profile import Profile, read_profile
from .read import FILE_NAME as RECORD
from .read import Record, read_record

SCHEMA = "parhelion.image/1"
FILE_NAME = "image.json"
LARGEST = 2**26  # bytes of image.json
DEFAULT_STORE = Path("images")
RAN = "ran"
BENCHMARKS = ("alltoall", "halo", "gather", "setup")  # "setup": in older images


class ImageError(InputError):
    """A folder is no image's, or cannot be written."""


class LoadedFile(msgspec.Struct, frozen=True):
    """What a file held that the ranks had loaded: its size, and the beginning of its SHA-256."""

    bytes: int
    sha256: str


class Image(msgspec.Struct):
    """What `image.json` says. `parts` maps what was to be measured to `ran`, or to why it was not."""

    schema: str
    image: str
    created: str
    argv: list[str]
    ranks: int
    build: str
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    environment: dict[str, Any] = msgspec.field(default_factory=dict)
    providers: dict[str, str] = msgspec.field(default_factory=dict)
    files: dict[str, LoadedFile] = msgspec.field(default_factory=dict)
    parts: dict[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True)
class MeasuredImage:
    image: Image
    records: dict[str, Record] = field(default_factory=dict)
    profiles: dict[str, Profile] = field(default_factory=dict)


def profile_folder(folder: Path, benchmark: str) -> Path:
    return folder / f"profile-{benchmark}"


def create_folder(folder: Path) -> Path:
    return empty_folder(folder, ImageError)


def write_image(image: Image, folder: Path) -> None:
    write_document(image, folder / FILE_NAME)


def read_image(folder: Path) -> MeasuredImage:
    """An image's folder with all that lies in it; raises `ImageError`, or what is wrong with a record or a profile in it."""
    image = read_document(folder / FILE_NAME, Image, SCHEMA, LARGEST, ImageError, "image")
    records = {name: read_record(folder / name) for name in BENCHMARKS if (folder / name / RECORD).exists()}
    profiles = {name: read_profile(place) for name in BENCHMARKS if ((place := profile_folder(folder, name)) / PROFILE).exists()}
    return MeasuredImage(image, records, profiles)
