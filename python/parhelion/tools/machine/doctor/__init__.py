"""`parhelion doctor`: what works on this machine. `checks` lists what is tried out: a probe does the thing itself and says what came of it.
`transports` and `worth` say what follows from that, `examination` puts all together.

Facts that runs record, and that need no trying out, are one folder up.
"""
