"""The one error of this package."""


class ProfileError(ValueError):
    """A profile cannot be taken or read; the message says which, why, and what to do."""
