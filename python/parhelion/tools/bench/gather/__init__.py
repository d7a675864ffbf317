"""`parhelion bench gather`, and other libraries beside it: coarray programs are started and read here.

The peers themselves, in C++ and Fortran, are in `bench/peers` of the repository.
"""
