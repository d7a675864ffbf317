from ._core import Step as Step
from ._transports import Transport as Transport, transports as transports
from .arrays import HaloArray as HaloArray
from .cartesian import CartesianDomain as CartesianDomain, choose_process_grid as choose_process_grid
from .conversion import (
    from_index_map as from_index_map,
    from_local_to_global as from_local_to_global,
    from_star_forest as from_star_forest,
    to_index_map as to_index_map,
    to_local_to_global as to_local_to_global,
    to_star_forest as to_star_forest,
)
from .errors import (
    CommunicationError as CommunicationError,
    Error as Error,
    ExchangeTimeoutError as ExchangeTimeoutError,
    LostPeerError as LostPeerError,
    MpiMismatchError as MpiMismatchError,
    ResourceError as ResourceError,
)
from .exchange import Exchange as Exchange
from .fields import Field as Field
from .ghost_array import GhostArray as GhostArray
from .ghost_exchange import GhostExchange as GhostExchange, fill_ghosts as fill_ghosts
from .ghost_map import GhostMap as GhostMap
from .indexed import IndexedDomain as IndexedDomain, read_partition as read_partition
from .pattern import Link as Link, Pattern as Pattern, build_pattern as build_pattern, load_pattern as load_pattern

__version__: str
