"""The error of simulations."""


class SimulationError(RuntimeError):
    """SimGrid is missing, the program could not be built, or the simulated ranks failed; says what to do."""
