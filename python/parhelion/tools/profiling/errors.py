"""The one error of this package."""

from ...errors import InputError


class ProfileError(InputError):
    """A profile cannot be taken or read; the message says which, why, and what to do."""
