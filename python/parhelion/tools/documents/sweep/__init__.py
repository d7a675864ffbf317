"""Sweeps over message sizes: where an algorithm seems to change, and the published form of the results.

What is said of single cases is one folder up.
"""
