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


def main() -> None:
    if sys.version_info < (3, 11):
        sys.exit(f"Python is {sys.version.split()[0]}, 3.11 or newer is needed: give PYTHON=python3.11")
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        sys.exit(f"Python.h is not in {headers}: install python3-dev, or give PYTHON=/path/of/a/python3/with/headers")
    with_pip = importlib.util.find_spec("ensurepip") is not None
    venv.create(sys.argv[1], symlinks=True, with_pip=with_pip)
    if not with_pip:
        install_pip(Path(sys.argv[1], "bin", "python"))


def install_pip(python: Path) -> None:
    """A wheel of pip can run itself from inside its archive, so it can install itself too. It is found through the index's page of links (PEP 503)."""
    print(f"This Python has no ensurepip (Debian: python3-venv); pip {PIP_VERSION} comes from PyPI instead", flush=True)
    index, name = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/", f"pip-{PIP_VERSION}-py3-none-any.whl"
    try:
        link = re.search(rf'href="([^"]*/{re.escape(name)})#sha256=([0-9a-f]+)', fetch(index).decode())
        if not link:
            raise OSError(f"{index} does not list {name}")
        content = fetch(urllib.parse.urljoin(index, link[1]))
        if hashlib.sha256(content).hexdigest() != link[2]:
            raise OSError(f"checksum of {name} differs")
    except OSError as error:
        sys.exit(f"pip could not be downloaded ({error}): install python3-venv, or give PYTHON=/path/to/python3")
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(folder, name)
        wheel.write_bytes(content)
        subprocess.run([python, wheel / "pip", "install", "--quiet", "--no-index", wheel], check=True)


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


if __name__ == "__main__":
    main()
