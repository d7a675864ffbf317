"""Pages of the documentation site that come from sources: the reference of each language, and files that pages link to.

One file per kind of source, each giving entries of names with their comments; `hook.py` is what MkDocs calls. What people write belongs into docs/, and what
checks fragments and pictures into tests/.
"""
