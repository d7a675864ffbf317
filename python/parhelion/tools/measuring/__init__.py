"""From cases to a finished record: write the job, start the ranks, follow the record. Nothing here measures.

How each MPI starts is in `parhelion.launch`; which cases a benchmark has is in `bench`.
"""
