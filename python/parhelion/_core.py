"""Stand-in for the native module: importing it starts MPI through mpi4py and loads the build for mpi4py's MPI."""

import sys

from .base.handles import not_pickled
from .native.loader import load_core

sys.modules[__name__] = core = load_core(__name__)
core.Step.__reduce__ = not_pickled
