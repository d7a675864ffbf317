"""Reading and writing profiles: `profiles/<time>-<program>-<id>/profile.json`."""

import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ...base.files import read_bounded
from ...launch.disk import writing
from ..records.store import Named
from .model import SCHEMA, Profile, ProfileError

FILE_NAME = "profile.json"
DEFAULT_STORE = Path("profiles")
LARGEST = 2**30  # bytes of a profile
PROFILE = Named(DEFAULT_STORE, FILE_NAME, "profile")


def create_folder(program: str, path: Path | None) -> tuple[str, Path]:
    """A new id, and a new folder for it."""
    name = re.sub(r"[^\w.-]", "_", Path(program).name)[:40]
    profile_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{name}-{secrets.token_hex(3)}"
    folder = path or DEFAULT_STORE / profile_id
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ProfileError(f"cannot make the folder {folder}: {error.strerror}") from None
    if any(folder.iterdir()):
        raise ProfileError(f"{folder} is not empty: name another folder")
    return profile_id, folder


def write_profile(profile: Profile, folder: Path) -> Path:
    """Write the document; it is there as a whole or not at all."""
    file = folder / FILE_NAME
    part = file.with_suffix(".part")
    with writing(part), part.open("wb") as out:
        out.write(msgspec.json.encode(profile))
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)
    return file


def read_profile(path: Path) -> Profile:
    """The profile in a folder or a file; raises `ProfileError` and changes nothing."""
    file = path / FILE_NAME if path.is_dir() else path
    try:
        content = read_bounded(file, LARGEST)
    except OSError as error:
        raise ProfileError(f"{path} is no profile: cannot read {file}: {error.strerror}") from None
    try:
        profile = msgspec.json.decode(content, type=Profile)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ProfileError(f"{file} is not a Parhelion profile: {error}; the file is left as it is") from None
    _check(profile, file)
    return profile


def _check(profile: Profile, file: Path) -> None:
    if profile.schema != SCHEMA:
        raise ProfileError(
            f"{file} has schema '{profile.schema}', this Parhelion reads '{SCHEMA}': use the version that wrote it"
        )
    known = len(profile.frames)
    if any(number >= known for rank in profile.ranks for stack in rank.stacks for number in stack.frames):
        raise ProfileError(f"{file} is damaged: a stack names a frame that is not there; the file is left as it is")
