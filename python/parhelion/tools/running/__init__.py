"""`parhelion run`: a user's program as ranks, under the MPI that it is built for and the launcher that is there. `launch` knows both."""
