"""`parhelion bench ghosts`; what its ranks run is `ghosts_program`."""
