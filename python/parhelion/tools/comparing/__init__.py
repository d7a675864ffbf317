"""Two sets of records against each other: what changed in the figures, and what changed around them.

The tests behind it are in `statistics`; `calibration` says how often they are right here.
"""

from .comparison import Comparison, Row, compare
from .document import comparison_document
from .sets import RecordSet, read_set

__all__ = ["Comparison", "RecordSet", "Row", "compare", "comparison_document", "read_set"]
