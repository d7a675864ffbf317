"""`python -m parhelion.launch` for the tests of a build tree: needs no installed package."""

import importlib
import sys

from launch_package import load_launch

load_launch()
sys.exit(importlib.import_module("parhelion_launch.main").main())
