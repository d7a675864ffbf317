from ._core import Step as Step
from .domain.arrays import HaloArray as HaloArray
from .domain.cartesian import (
    CartesianDomain as CartesianDomain,
    CubedSphere as CubedSphere,
    choose_process_grid as choose_process_grid,
    fold as fold,
    seam as seam,
)
from .domain.conversion import (
    from_index_map as from_index_map,
    from_local_to_global as from_local_to_global,
    from_star_forest as from_star_forest,
    to_index_map as to_index_map,
    to_local_to_global as to_local_to_global,
    to_star_forest as to_star_forest,
)
from .domain.fields import Field as Field
from .domain.indexed import IndexedDomain as IndexedDomain, read_partition as read_partition, read_partition_keys as read_partition_keys
from .errors import (
    CommunicationError as CommunicationError,
    Error as Error,
    ExchangeTimeoutError as ExchangeTimeoutError,
    LostPeerError as LostPeerError,
    MpiMismatchError as MpiMismatchError,
    ResourceError as ResourceError,
)
from .exchange.exchange import Exchange as Exchange, Transport as Transport, transports as transports
from .exchange.index_map import IndexMap as IndexMap, RaggedMap as RaggedMap, localize as localize
from .exchange.migration import Migration as Migration
from .exchange.pattern import Link as Link, Pattern as Pattern, build_pattern as build_pattern
from .exchange.point_sums import PointSums as PointSums
from .exchange.redistribution import Redistribution as Redistribution
from .exchange.reduction import Reduction as Reduction
from .exchange.stale import StaleGhost as StaleGhost, StaleGhosts as StaleGhosts

__version__: str
