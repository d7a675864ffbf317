"""Selection of the native module for mpi4py's MPI."""
