"""Folder of a software image: `image.json`, a run folder per benchmark, `profile-…` per profiled benchmark."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ..base.files import write_whole
from ..errors import InputError
from .folder import empty_folder, read_document
from .profile import FILE_NAME as PROFILE
from .profile import Profile, read_profile
from .read import FILE_NAME as RECORD
from .read import Record, read_record

SCHEMA = "parhelion.image/1"
FILE_NAME = "image.json"
LARGEST = 2**26  # bytes of image.json
DEFAULT_STORE = Path("images")
RAN = "ran"
BENCHMARKS = ("alltoall", "halo", "gather", "setup")  # only older images have setup


class ImageError(InputError):
    """An image folder cannot be read or written."""


class LoadedFile(msgspec.Struct, frozen=True):
    """Size and SHA-256 prefix of a file that the ranks loaded."""

    bytes: int
    sha256: str


class Image(msgspec.Struct):
    """Contents of `image.json`; `parts` maps each requested part to `ran` or to the reason why it did not run."""

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
    write_whole(folder / FILE_NAME, msgspec.json.encode(image))


def read_image(folder: Path) -> MeasuredImage:
    """Read an image folder with its records and profiles; raises `ImageError`, `RecordError` or `ProfileError`."""
    image = read_document(folder / FILE_NAME, Image, SCHEMA, LARGEST, ImageError, "image")
    records = {name: read_record(folder / name) for name in BENCHMARKS if (folder / name / RECORD).exists()}
    profiles = {name: read_profile(place) for name in BENCHMARKS if ((place := profile_folder(folder, name)) / PROFILE).exists()}
    return MeasuredImage(image, records, profiles)
