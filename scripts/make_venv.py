"""Makes the project's virtual environment, also where Debian left `ensurepip` out of its Python.

Usage: make_venv.py DIRECTORY. Runs on the bare system Python.
"""

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import urllib.parse
import urllib.request
import venv
from pathlib import Path

PIP_VERSION = "25.3"


def main() -> int:
    check_python()
    directory = Path(sys.argv[1])
    with_pip = importlib.util.find_spec("ensurepip") is not None
    venv.create(directory, symlinks=True, with_pip=with_pip)
    if not with_pip:
        install_pip(directory / "bin" / "python")
    return 0


def check_python() -> None:
    if sys.version_info < (3, 11):
        sys.exit(f"Python is {sys.version.split()[0]}, 3.11 or newer is needed: give PYTHON=python3.11")
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        sys.exit(f"Python.h is not in {headers}: install python3-dev, or give PYTHON=/path/of/a/python3/with/headers")


def install_pip(python: Path) -> None:
    """A wheel of pip can run itself from inside its archive, so it can install itself too."""
    print(f"This Python has no ensurepip (Debian: python3-venv); pip {PIP_VERSION} comes from PyPI instead", flush=True)
    try:
        wheel = download_pip()
    except OSError as error:
        sys.exit(f"pip could not be downloaded ({error}): install python3-venv, or give PYTHON=/path/to/python3")
    subprocess.run([python, f"{wheel}/pip", "install", "--quiet", "--no-index", wheel], check=True)


def download_pip() -> str:
    """The wheel's file, found through the index's page of links (PEP 503)."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
    name = f"pip-{PIP_VERSION}-py3-none-any.whl"
    link = re.search(rf'href="([^"]*/{re.escape(name)})#sha256=([0-9a-f]+)', fetch(index).decode())
    if not link:
        raise OSError(f"{index} does not list {name}")
    content = fetch(urllib.parse.urljoin(index, link[1]))
    if hashlib.sha256(content).hexdigest() != link[2]:
        raise OSError(f"checksum of {name} differs")
    wheel = Path(tempfile.mkdtemp()) / name
    wheel.write_bytes(content)
    return str(wheel)


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


if __name__ == "__main__":
    sys.exit(main())
