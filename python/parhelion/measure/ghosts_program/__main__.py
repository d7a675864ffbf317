"""Measures what the options ask for. Exit status: 0; 1 when a value was wrong; 2 for bad input."""

import time

BEFORE_S = time.process_time()  # the interpreter and the package, nothing else yet

if __name__ == "__main__":
    from .imports import timed_imports

    IMPORTS = timed_imports(BEFORE_S)
    from .case import Case
    from .contenders import ALL, ONLY_BY_NAME, contenders
    from .main import Program, main

    raise SystemExit(main(IMPORTS, Program(Case.read, contenders, set(ALL) - ONLY_BY_NAME)))
