"""Gives scripts `parhelion.launch` without importing the package around it, which may not be built yet."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

LAUNCH = Path(__file__).resolve().parent.parent / "python" / "parhelion" / "launch"


def load_launch() -> ModuleType:
    """The package under the name `parhelion_launch`."""
    spec = importlib.util.spec_from_file_location(
        "parhelion_launch", LAUNCH / "__init__.py", submodule_search_locations=[str(LAUNCH)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
