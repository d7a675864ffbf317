"""`parhelion doctor`: what works on this machine. A probe does the thing itself and says what came of it; `transports` lists them.

Facts that runs record, and that need no trying out, are one folder up.
"""
