"""`parhelion bench image`: an image measured part by part (`take`), and what is written down of its libraries and channels.

Nothing here compares.
"""
