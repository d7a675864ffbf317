"""The model: what an exchange costs, from bytes and messages per level of the machine (`parhelion model`).

>>> parameters = read_parameters("betzy.json")
>>> parameters.predict(traffic(placement, Exchange((64, 64, 64), halo=1, fields=8, bytes_per_cell=4)))

Measured figures come from records, published ones from `published`; nothing here starts ranks.
"""

from ...placement.parameters import Parameters, read_parameters, write_parameters
from .traffic import Exchange, Traffic, traffic
from .fit import Fit, fit

__all__ = ["Exchange", "Fit", "Parameters", "Traffic", "fit", "read_parameters", "traffic", "write_parameters"]
