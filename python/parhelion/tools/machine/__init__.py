"""What a run's figures depend on, read from the system: local, cheap, and never a reason to fail.

A check that tries something out belongs to `doctor`; several hosts on one machine are made by `hosts`.
"""

from .collect import collect

__all__ = ["collect"]
