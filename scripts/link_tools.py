"""Link cmake, ctest and ninja into one directory: the system's if recent enough, else from wheels.

Usage: link_tools.py DIRECTORY REQUIREMENTS. Runs on the virtual environment's Python.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

CMAKE_NEEDED = (3, 24)
TOOLS = ("cmake", "ctest", "ninja")


def main() -> None:
    directory, requirements = Path(sys.argv[1]), sys.argv[2]
    found = [shutil.which(tool) for tool in TOOLS]
    if not all(found) or cmake_version(found[0]) < CMAKE_NEEDED:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
        found = [Path(sys.executable).with_name(tool) for tool in TOOLS]
    directory.mkdir(parents=True, exist_ok=True)
    for tool, path in zip(TOOLS, found):
        (directory / tool).unlink(missing_ok=True)
        (directory / tool).symlink_to(path)
    print(f"Build tools: {found[0]}, {found[-1]}")


def cmake_version(cmake: str) -> tuple[int, ...]:
    """Return (0,) if cmake does not run, as with a stale forwarding script."""
    said = subprocess.run([cmake, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)\.(\d+)", said)
    return tuple(map(int, version.groups())) if version else (0,)


if __name__ == "__main__":
    main()
