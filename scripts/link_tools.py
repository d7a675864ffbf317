"""Puts cmake, ctest and ninja into one directory: the system's where they will do, else those of wheels.

Usage: link_tools.py DIRECTORY REQUIREMENTS. Runs on the virtual environment's Python.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

CMAKE_NEEDED = (3, 24)
TOOLS = ("cmake", "ctest", "ninja")


def main() -> int:
    directory, requirements = Path(sys.argv[1]), sys.argv[2]
    environment = Path(sys.executable).parent
    source = system_tools() or wheel_tools(environment, requirements)
    directory.mkdir(parents=True, exist_ok=True)
    for tool, path in source.items():
        link = directory / tool
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    print(f"Build tools: {source['cmake']}, {source['ninja']}")
    return 0


def system_tools() -> dict[str, Path] | None:
    found = {tool: shutil.which(tool) for tool in TOOLS}
    if not all(found.values()) or cmake_version(found["cmake"]) < CMAKE_NEEDED:
        return None
    return {tool: Path(path) for tool, path in found.items()}


def cmake_version(cmake: str) -> tuple[int, ...]:
    """(0,) when it does not run, as a forwarding script of a missing version does not."""
    output = subprocess.run([cmake, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)\.(\d+)", output)
    return tuple(map(int, version.groups())) if version else (0,)


def wheel_tools(environment: Path, requirements: str) -> dict[str, Path]:
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
    return {tool: environment / tool for tool in TOOLS}


if __name__ == "__main__":
    sys.exit(main())
