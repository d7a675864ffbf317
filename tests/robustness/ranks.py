"""What the drivers of robustness tests share: starting ranks of a build and following them."""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from parhelion import launch

SKIPPED = 77  # exit status that CTest takes for "skipped"


def parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build-file", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--timeout", type=float, default=90, help="seconds until a job is ended")
    return parser


def skip(reason: str) -> None:
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def run(options, ranks, args=(), *, launcher_options=(), wrap=(), env=None, bind=False):
    """Runs the program to its end. Returns how it ended and the lines it printed."""
    lines = []
    program, *arguments = [*wrap, options.program, *map(str, args)]
    completed = launch.run(
        ranks,
        program,
        arguments,
        build=launch.load_build(options.build_file),
        bind=bind,
        env={**os.environ, **(env or {})},
        options=list(launcher_options),
        timeout=options.timeout,
        on_line=lines.append,
    )
    return completed, lines
