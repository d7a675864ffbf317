"""Sweeps over message sizes: where an algorithm seems to change, and the published form of the results.

What is said of single cases is one folder up.
"""

from .changes import Change, Threshold, changes, thresholds
from .curves import Curve, curves
from .layouts import PublishedRow, published_rows

__all__ = ["Change", "Curve", "PublishedRow", "Threshold", "changes", "curves", "published_rows", "thresholds"]
