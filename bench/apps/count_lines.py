"""Writes a header with the lines of code of each file: `count_lines.py HEADER FILE...`. Blank lines, comments, includes, namespaces and modules do not count."""

import re
import sys
from pathlib import Path

NO_CODE = re.compile(r"\s*($|//|#include|#pragma|namespace .*{$|}\s*// namespace)|\s*(!|use |(end )?module\b|implicit none|private$|public ::)")


def lines_of_code(path: Path) -> int:
    """A header of the same name counts with its source, for what the file declares there."""
    files = sorted(file for file in {path, path.with_suffix(".hpp"), path.with_suffix(".f90")} if file.exists())
    return sum(not NO_CODE.match(line) for file in files for line in file.read_text(encoding="utf-8").splitlines())


constants = [f"inline constexpr int lines_of_{file.stem} = {lines_of_code(file)};" for file in map(Path, sys.argv[2:])]
Path(sys.argv[1]).write_text("\n".join(["#pragma once", "namespace parhelion::bench {", *constants, "}", ""]), encoding="utf-8")
