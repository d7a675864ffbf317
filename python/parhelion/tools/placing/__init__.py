"""`parhelion place`: asks the library `parhelion.placement`, and prints, draws and writes what it answered.

How ranks are placed and scored belongs to that library.
"""
