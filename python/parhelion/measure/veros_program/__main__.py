"""Measures what the options ask for. Exit status: 0; 1 when a value was wrong; 2 for bad input."""

import time

BEFORE_S = time.process_time()  # the interpreter and the package, nothing else yet

if __name__ == "__main__":
    from ..ghosts_program.imports import timed_imports

    IMPORTS = timed_imports(BEFORE_S)
    from ..ghosts_program.main import main
    from .program import VEROS

    raise SystemExit(main(IMPORTS, VEROS))
