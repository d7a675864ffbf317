"""Create the project's virtual environment, or tell what Python lacks.

Usage: make_venv.py DIRECTORY. Runs on the bare system Python.
"""

import importlib.util
import sys
import sysconfig
import venv
from pathlib import Path


def main() -> None:
    if sys.version_info < (3, 11):
        sys.exit(f"Python is {sys.version.split()[0]}, 3.11 or newer is needed: give PYTHON=python3.11")
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        sys.exit(f"Python.h is not in {headers}: install python3-dev, or give PYTHON=/path/of/a/python3/with/headers")
    if importlib.util.find_spec("ensurepip") is None:
        sys.exit("this Python has no ensurepip: install python3-venv, or give PYTHON=/path/of/another/python3")
    venv.create(sys.argv[1], symlinks=True, with_pip=True)


if __name__ == "__main__":
    main()
