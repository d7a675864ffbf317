"""`parhelion image compare`: what changed between two images (`comparison`), and what could explain it, most probable first.

`differences` gathers what differs around the figures, `evidence` reads figures and profiles for signs, `causes` weighs; how a page of it
looks is in `page` and `templates`.
"""
