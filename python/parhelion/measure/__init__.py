"""A measurement, from its options to its records: `cases` are measured on `sides` (a build, builds × networks, two builds interleaved), `run` launches
them, `ranks` follows what they write. The ranks time; nothing here does.
"""
