"""`parhelion runs history`: at which runs of a store figures became slower or faster, and what changed there.

`changes` gathers figures over runs, finds and tests change points, `find` says what else was new at that run. Two sides that
somebody has chosen are compared by `comparing`.
"""
