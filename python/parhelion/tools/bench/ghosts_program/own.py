"""The library's ghost arrays."""

import parhelion as ph

from .case import Case
from .values import Exchange, Rows


class Own(Exchange):
    """`exchange()` from Python; with `native`, the same from C++, to see what Python costs."""

    def __init__(self, case: Case, transport: str, native: bool = False) -> None:
        rows = ph.GhostArray(case.map, case.vdim, case.dtype)
        self.rows = Rows(case, rows.array)
        self.call = ph.GhostExchange(rows, transport=transport)
        self.native = native

    def run(self, times: int) -> None:
        if self.native:
            self.call.run_many(times)
            return
        call = self.call
        for _ in range(times):
            call()

    def traffic(self) -> tuple[int, int]:
        return self.call.bytes_sent(), self.call.messages_sent()

    def explain(self) -> str:
        return self.call.explain()
