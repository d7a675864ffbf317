"""`parhelion calibrate`: how often `compare` is right on this machine."""
