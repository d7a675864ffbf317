"""`parhelion runs`: a store of runs listed, shown, tagged, exported, queried; one file per verb. `imported` reads other benchmarks.

What a single record is belongs to `records`.
"""
