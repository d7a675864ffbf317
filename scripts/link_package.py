"""Make the source tree importable and install `parhelion` in the virtual environment, like an editable install without a build.

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
Version: {}
Summary: Halo exchange for structured grids and index maps
"""

site = Path(sysconfig.get_path("purelib"))
(site / "parhelion.pth").write_text(f"{ROOT / 'python'}\n")
version = re.search(r"project\(parhelion VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
# For `importlib.metadata` and `pip list`.
info = site / f"parhelion-{version}.dist-info"
info.mkdir(exist_ok=True)
(info / "METADATA").write_text(METADATA.format(version))
(info / "INSTALLER").write_text("make\n")
command = Path(sys.executable).parent / "parhelion"
command.write_text(COMMAND)
command.chmod(0o755)
