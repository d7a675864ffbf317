"""Selection of the native module for mpi4py's MPI, and the messages where none fits. This package does not use the module."""
