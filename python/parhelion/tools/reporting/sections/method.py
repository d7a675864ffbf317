"""How a run was measured, read back from what is in it."""

from dataclasses import dataclass

from ...records import Record


@dataclass(frozen=True)
class Method:
    """Counts that tell how much stands behind the figures."""

    launches: int
    samples: int
    samples_each: str
    exchanges: int
    ranks: str


def method(record: Record) -> Method:
    """Counts over the whole run."""
    lines = [line for line in record.cases if line.samples]
    each = sorted({len(line.samples) for line in lines})
    ranks = sorted({launch.ranks for launch in record.launches})
    return Method(
        launches=len(record.launches),
        samples=sum(len(line.samples) for line in lines),
        samples_each=f"{each[0]}–{each[-1]}" if len(each) > 1 else str(each[0]) if each else "no",
        exchanges=sum(len(line.samples) * (line.iterations or 1) for line in lines),
        ranks=", ".join(map(str, ranks)) or "unknown",
    )
