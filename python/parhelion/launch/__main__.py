"""``python -m parhelion.launch -n RANKS [options] -- PROGRAM [ARGS…]``"""

import sys

from .main import main

sys.exit(main())
