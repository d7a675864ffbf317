"""A contender that cannot run here."""


class Skipped(Exception):
    """Says why, on every rank alike."""
