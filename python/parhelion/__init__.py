"""Halo exchange for structured grids and index maps.

    import parhelion as ph

    domain = ph.CartesianDomain((768, 768, 768), halo=2, periodic=True)
    u = domain.zeros(dtype="float32")      # a NumPy array; u.owned is the part without halo
    exchange = ph.Exchange(domain, u)
    exchange()                             # every ghost now holds its owner's value

Importing the package does not start MPI; the first use of any of these names imports mpi4py, which does.
"""

import importlib

_MODULES = {
    "CartesianDomain": "domain.cartesian",
    "CommunicationError": "errors",
    "Error": "errors",
    "Exchange": "exchange.exchange",
    "ExchangeTimeoutError": "errors",
    "Field": "domain.fields",
    "HaloArray": "domain.arrays",
    "IndexMap": "exchange.index_map",
    "IndexedDomain": "domain.indexed",
    "Link": "exchange.pattern",
    "LostPeerError": "errors",
    "Migration": "exchange.migration",
    "MpiMismatchError": "errors",
    "Pattern": "exchange.pattern",
    "PointSums": "exchange.point_sums",
    "RaggedMap": "exchange.index_map",
    "Redistribution": "exchange.redistribution",
    "Reduction": "exchange.reduction",
    "ResourceError": "errors",
    "StaleGhost": "exchange.stale",
    "StaleGhosts": "exchange.stale",
    "Step": "_core",
    "Transport": "exchange.exchange",
    "build_pattern": "exchange.pattern",
    "choose_process_grid": "domain.cartesian",
    "CubedSphere": "domain.cartesian",
    "fold": "domain.cartesian",
    "seam": "domain.cartesian",
    "from_index_map": "domain.conversion",
    "from_local_to_global": "domain.conversion",
    "from_star_forest": "domain.conversion",
    "localize": "exchange.index_map",
    "read_partition": "domain.indexed",
    "read_partition_keys": "domain.indexed",
    "to_index_map": "domain.conversion",
    "to_local_to_global": "domain.conversion",
    "to_star_forest": "domain.conversion",
    "transports": "exchange.exchange",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version(__name__)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
