"""`python -m parhelion.cli`, for a tree that is not installed."""

from .main import main

main()
