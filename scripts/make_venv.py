"""Makes the project's virtual environment, also where Debian left `ensurepip` out of its Python.

Usage: make_venv.py DIRECTORY. Runs on the bare system Python.
"""

import hashlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import venv
from pathlib import Path

PIP_VERSION = "25.3"
PIP_URL = f"https://pypi.org/pypi/pip/{PIP_VERSION}/json"


def main() -> int:
    if sys.version_info < (3, 11):
        print(f"Python is {sys.version.split()[0]}, 3.11 or newer is needed: make PYTHON=python3.11", file=sys.stderr)
        return 1
    directory = Path(sys.argv[1])
    with_pip = importlib.util.find_spec("ensurepip") is not None
    venv.create(directory, symlinks=True, with_pip=with_pip, clear=directory.exists())
    if not with_pip:
        install_pip(directory / "bin" / "python")
    return 0


def install_pip(python: Path) -> None:
    """A wheel of pip can run itself from inside its archive, so it can install itself too."""
    print(f"This Python has no ensurepip (Debian: python3-venv); pip {PIP_VERSION} comes from PyPI instead")
    try:
        wheel = download_pip()
    except OSError as error:
        sys.exit(f"pip could not be downloaded ({error}): install python3-venv, or give PYTHON=/path/to/python3")
    subprocess.run([python, f"{wheel}/pip", "install", "--quiet", "--no-index", wheel], check=True)


def download_pip() -> str:
    with urllib.request.urlopen(PIP_URL, timeout=60) as answer:
        release = next(u for u in json.load(answer)["urls"] if u["packagetype"] == "bdist_wheel")
    with urllib.request.urlopen(urllib.parse.urljoin(PIP_URL, release["url"]), timeout=60) as answer:
        content = answer.read()
    if hashlib.sha256(content).hexdigest() != release["digests"]["sha256"]:
        raise OSError("checksum differs")
    wheel = Path(tempfile.mkdtemp()) / release["filename"]
    wheel.write_bytes(content)
    return str(wheel)


if __name__ == "__main__":
    sys.exit(main())
