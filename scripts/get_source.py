"""Unpacks the source packages that a requirements file pins. Usage: get_source.py REQUIREMENTS FOLDER"""

import subprocess
import sys
import tarfile
from pathlib import Path


def main() -> None:
    requirements, folder = Path(sys.argv[1]), Path(sys.argv[2])
    lines = [line for line in requirements.read_text().splitlines() if line and not line.startswith("#")]
    for name, version in (line.split()[0].split("==") for line in lines):
        if not (folder / f"{name}-{version}").is_dir():
            fetch(name, requirements, folder)
            unpack(folder / f"{name}-{version}.tar.gz", folder)


def fetch(name: str, requirements: Path, folder: Path) -> None:
    command = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", name, "-r", requirements]
    subprocess.run([sys.executable, "-m", "pip", *command, "-d", folder], check=True)


def unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")


main()
