"""Measures what the job asks for. Exit status: 0; 1 when a value was wrong; 2 for bad input."""

import time

START = time.perf_counter()

if __name__ == "__main__":
    from .main import main

    raise SystemExit(main(START))
