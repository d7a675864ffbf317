"""Names of `parhelion.errors` under which commands still raise them."""

from ..errors import BAD_INPUT, OK, RANKS_FAILED, WRONG_VALUE, InputError as BadInput, RanksFailed

__all__ = ["BAD_INPUT", "OK", "RANKS_FAILED", "WRONG_VALUE", "BadInput", "RanksFailed"]
