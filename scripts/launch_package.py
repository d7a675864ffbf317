"""Gives scripts `parhelion.launch` without the package's own `__init__`, which needs a native module that may not be built yet."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "parhelion"
NAME = "parhelion_unbuilt"


def load_launch(part: str = "") -> ModuleType:
    """The room `launch`, or a part of it such as `.main`."""
    if NAME not in sys.modules:
        bare = ModuleType(NAME)
        bare.__path__ = [str(PACKAGE)]
        sys.modules[NAME] = bare
    return importlib.import_module(f"{NAME}.launch{part}")
