"""Trying out what transports need from this machine: each probe does the thing itself and says what came of it."""

from .finding import Finding
from .transports import transports

__all__ = ["Finding", "transports"]
