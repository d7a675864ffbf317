"""`python -m parhelion` is the command `parhelion`."""

from .tools.main import main

if __name__ == "__main__":
    main()
