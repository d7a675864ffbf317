"""Halo exchange for structured grids and index maps.

    import parhelion as ph

    domain = ph.CartesianDomain((768, 768, 768), halo=2, periodic=True)
    u = domain.zeros(dtype="float32")      # a NumPy array; u.owned is the part without halo
    exchange = ph.Exchange(domain, u)
    exchange()                             # every ghost now holds its owner's value

The first use of any of these names imports mpi4py, which starts MPI; importing the package alone does not.
"""

import importlib

_MODULES = {
    "CartesianDomain": "cartesian",
    "CommunicationError": "errors",
    "Error": "errors",
    "Exchange": "exchange",
    "ExchangeTimeoutError": "errors",
    "Field": "fields",
    "GhostArray": "ghost_array",
    "GhostExchange": "ghost_exchange",
    "GhostMap": "ghost_map",
    "HaloArray": "arrays",
    "IndexedDomain": "indexed",
    "Link": "pattern",
    "LostPeerError": "errors",
    "MpiMismatchError": "errors",
    "Pattern": "pattern",
    "ResourceError": "errors",
    "Step": "_core",
    "Transport": "_transports",
    "build_pattern": "pattern",
    "choose_process_grid": "cartesian",
    "fill_ghosts": "ghost_exchange",
    "from_index_map": "conversion",
    "from_local_to_global": "conversion",
    "from_star_forest": "conversion",
    "load_pattern": "pattern",
    "read_partition": "indexed",
    "to_index_map": "conversion",
    "to_local_to_global": "conversion",
    "to_star_forest": "conversion",
    "transports": "_transports",
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
