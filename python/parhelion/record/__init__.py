"""Writing, reading and export of records of runs, profiles and software images; import of other benchmarks' output."""
