"""How things look wherever they are shown: words for numbers and sizes, colors, tables on the terminal, pages and their theme.

It knows nothing of records or benchmarks: what is said of those is in `documents`.
"""
