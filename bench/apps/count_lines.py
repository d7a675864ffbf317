"""Prints how many lines of code each file has: `count_lines.py FILE...`. Blank lines, comments, includes and namespaces do not count."""

import re
import sys
from pathlib import Path

NO_CODE = re.compile(r"\s*($|//|#include|#pragma|namespace .*{$|}\s*// namespace)")


def lines_of_code(path: Path) -> int:
    """A header of the same name counts with it, for what the file declares there."""
    files = [path, *(header for header in [path.with_suffix(".hpp")] if header.exists())]
    return sum(not NO_CODE.match(line) for file in files for line in file.read_text(encoding="utf-8").splitlines())


for file in map(Path, sys.argv[1:]):
    print(f"inline constexpr int lines_of_{file.stem} = {lines_of_code(file)};")
