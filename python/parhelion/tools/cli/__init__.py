"""The command `parhelion`: one file per command, loaded only when it is called."""

from .main import main

__all__ = ["main"]
