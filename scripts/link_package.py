"""Makes the source tree importable in the virtual environment and puts `parhelion` beside its Python.

A path file and a command do what an editable install does, without running a build each time.
Usage: link_package.py. Runs on the virtual environment's Python.
"""

import re
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = """#!/bin/sh
# A first line that names the interpreter may be too long for the kernel; this one never is.
exec "$(dirname "$(readlink -f "$0")")/python" -m parhelion "$@"
"""
METADATA = """Metadata-Version: 2.1
Name: parhelion
Version: {version}
Summary: Halo exchange for structured grids and index maps
"""


def main() -> None:
    site = Path(sysconfig.get_path("purelib"))
    (site / "parhelion.pth").write_text(f"{ROOT / 'python'}\n")
    write_metadata(site, project_version())
    command = Path(sys.executable).parent / "parhelion"
    command.write_text(COMMAND)
    command.chmod(0o755)


def project_version() -> str:
    return re.search(r"project\(parhelion VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def write_metadata(site: Path, version: str) -> None:
    """So that `importlib.metadata` and `pip list` know the package."""
    info = site / f"parhelion-{version}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(METADATA.format(version=version))
    (info / "INSTALLER").write_text("make\n")


if __name__ == "__main__":
    main()
