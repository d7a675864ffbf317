"""Profiles: what share of the ranks' time goes to which library and function, and what changed between two."""

from .errors import ProfileError
from .folder import read_profile
from .model import Profile

__all__ = ["Profile", "ProfileError", "read_profile"]
