"""`parhelion profile show`: tables, flame graphs, the document of `--json` and the page of `--html`.

The other two verbs end with them as well. How shares are counted is one folder up.
"""
