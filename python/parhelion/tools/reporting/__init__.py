"""Reports from records: one self-contained HTML page and the same tables in Markdown.

`sections` holds what a report says, `plots` what it draws, `templates` how it looks.
"""

from .write import write_report

__all__ = ["write_report"]
