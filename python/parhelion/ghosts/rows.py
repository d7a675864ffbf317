"""What all row arrays are, and which kinds of them there are: here the parts of this room find each other without a circle."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..exchange.index_map import IndexMap

if TYPE_CHECKING:
    from .. import _core


class Rows:
    """Rows of a `IndexMap` in native memory. `GhostArray` and its kinds are the subclasses, each found by its layout."""

    layout: Literal["uniform", "padded", "ragged"]
    kinds: ClassVar[dict[str, Any]] = {}

    _map: IndexMap
    _native: "_core.GhostRows"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Rows.kinds.setdefault(cls.layout, cls)  # a user's subclass of a kind does not replace it

    @property
    def _comm(self) -> "_core.Communicator":
        return self._map._native_comm
