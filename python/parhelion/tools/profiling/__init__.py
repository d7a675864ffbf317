"""`parhelion profile`: what share of the ranks' time goes to which library and function, and what changed between two profiles.

One folder per verb; here is what they share: a profile on disk, and its shares by part, library and function.
"""

from .model import Profile, ProfileError, read_profile

__all__ = ["Profile", "ProfileError", "read_profile"]
