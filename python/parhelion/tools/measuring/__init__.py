"""From cases to a finished record: start the ranks with their options, follow the record. Nothing here measures.

`session` is a run; `duet` takes turns with two of them, which are flavors, checkouts or `images`. How each MPI starts is in
`parhelion.launch`; which cases a benchmark has is in `bench`.
"""
