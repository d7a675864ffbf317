"""The one error of this package."""


class RecordError(ValueError):
    """A record cannot be read or written; the message says which, where in it, and what to do."""
