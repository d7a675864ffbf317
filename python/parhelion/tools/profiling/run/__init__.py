"""`parhelion profile run`: starts ranks under perf, one watcher beside each, and reads the samples into a profile.

What a profile says is worked out one folder up.
"""
