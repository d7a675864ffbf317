"""`python -m parhelion` is the command `parhelion`."""

from .tools.entry import main

if __name__ == "__main__":
    main()
