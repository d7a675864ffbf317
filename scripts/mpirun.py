"""`python -m parhelion.launch` for the tests of a build tree: needs no installed package."""

import sys

from launch_package import load_launch

sys.exit(load_launch(".main").main())
