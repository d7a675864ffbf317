"""Unpacks the source packages that a requirements file pins. Usage: get_source.py REQUIREMENTS FOLDER"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path


def main() -> None:
    requirements, folder = Path(sys.argv[1]), Path(sys.argv[2])
    lines = [line for line in requirements.read_text().splitlines() if line and not line.startswith("#")]
    for name, version in (line.split()[0].split("==") for line in lines):
        source = folder / f"{name}-{version}"
        if not source.is_dir():
            fetch(name, requirements, folder)
            unpack(folder / f"{source.name}.tar.gz", source)


def fetch(name: str, requirements: Path, folder: Path) -> None:
    command = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", name, "-r", requirements]
    subprocess.run([sys.executable, "-m", "pip", *command, "-d", folder], check=True)


def unpack(archive: Path, source: Path) -> None:
    """The archive's one folder, as a whole or not at all.

    A source package needs plain files and folders below its own name and no more. `tarfile` has a filter for that from Python
    3.11.4 on; Debian 12 has 3.11.2.
    """
    part = source.with_name(f".{source.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    with tarfile.open(archive) as tar:
        members = [plain(member, archive, source.name) for member in tar.getmembers()]
        tar.extractall(part, members)
    (part / source.name).rename(source)
    part.rmdir()


def plain(member: tarfile.TarInfo, archive: Path, top: str) -> tarfile.TarInfo:
    """The member with ordinary permissions; ends the program when it is not one that a source package has."""
    parts = Path(member.name).parts
    if not (member.isreg() or member.isdir()):
        sys.exit(f"{archive}: '{member.name}' is a link or a device, which no source package needs; nothing was unpacked")
    if not parts or parts[0] != top or ".." in parts:
        sys.exit(f"{archive}: '{member.name}' lies outside of {top}/; nothing was unpacked")
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
    return member


if __name__ == "__main__":
    main()
