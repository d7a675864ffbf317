"""`python -m parhelion` is the command `parhelion`."""

from .cli.main import main

if __name__ == "__main__":
    main()
