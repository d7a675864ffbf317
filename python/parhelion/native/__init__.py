"""Finding the native module: the build whose MPI is the one that mpi4py is bound to, and what is said where none is. Nothing here uses it."""
