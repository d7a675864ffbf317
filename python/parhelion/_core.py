"""The native module, built against the MPI that mpi4py is bound to. Importing it starts MPI through mpi4py.

This file stands in for it: when it has run, `parhelion._core` is the extension module of the right build.
"""

import sys

from .base.handles import not_pickled
from .native.loader import load_core

sys.modules[__name__] = core = load_core(__name__)
core.Step.__reduce__ = not_pickled
