"""`parhelion profile show`: tables, stacks for speedscope, the document of `--json`.

The other two verbs end with them as well. How shares are counted is one folder up.
"""
