"""What a run's figures depend on, read from the system: local, cheap, and never a reason to fail."""

from .collect import collect

__all__ = ["collect"]
