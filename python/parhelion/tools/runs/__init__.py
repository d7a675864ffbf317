"""`parhelion runs`: a store of runs listed, shown, tagged, exported, queried; those that need little are in `commands`. `imported` reads other benchmarks.

What a single record is belongs to `records`.
"""
