"""Run the command `parhelion` as `python -m parhelion`."""

from .cli.main import main

if __name__ == "__main__":
    main()
