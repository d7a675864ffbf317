"""`parhelion image run`: an image measured part by part (`take`), and what is written down of its libraries and channels.

Which cases are measured is in `cases`; nothing here compares.
"""
