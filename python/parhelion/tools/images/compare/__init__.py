"""`parhelion compare` of images: what changed between two images (`comparison`), and what could explain it, most probable first.

`evidence` gathers what differs around the figures, and reads figures and profiles for signs, `causes` weighs; how a page of it
looks is in `page` and `templates`.
"""
