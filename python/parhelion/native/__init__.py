"""Finding the native module: the build whose MPI is the one that mpi4py is bound to. Nothing here uses it."""
