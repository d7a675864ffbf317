"""`parhelion calibrate`: how often `compare` is right on this machine.

`calibration` puts launches of one's own runs into sides, and measures error rates over launches × noise × effect on them, or on those that
`synthetic` makes up with a known truth.
"""
