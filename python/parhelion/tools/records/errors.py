"""The one error of this package."""

from ...errors import InputError


class RecordError(InputError):
    """A record cannot be read or written; the message says which, where in it, and what to do."""
