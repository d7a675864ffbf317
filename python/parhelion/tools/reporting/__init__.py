"""Reports from records: one self-contained HTML page and the same tables in Markdown."""

from .write import write_report

__all__ = ["write_report"]
