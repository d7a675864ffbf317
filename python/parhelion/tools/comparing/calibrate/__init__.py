"""`parhelion calibrate`: how often `compare` is right on this machine.

`calibration` puts launches of one's own runs into sides; `synthetic` makes sides up with a known truth. `grid` measures error rates on
both over launches × noise × effect, and shows them as a table.
"""
