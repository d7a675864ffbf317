"""Published figures beside one's own: the same layout, from other machines."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

HAND_WRITTEN = "mpi_comm"
PUBLISHED_AS, PER_EXCHANGE = "seconds_per_10000_exchanges", 1e-4


@dataclass(frozen=True)
class PublishedTable:
    """Seconds, or `None` where nothing was published; `speeds` are against hand-written MPI of the same toolchain."""

    title: str
    row_names: list[str]
    columns: list[str]
    rows: list[tuple[list[str], list[float | None], list[float | None]]]


def published(benchmark: str) -> PublishedTable | None:
    """The published table of a benchmark, or `None` when there is none."""
    return {"halo": _halo, "gather": _gather}.get(benchmark, lambda: None)()


def _halo() -> PublishedTable:
    lines = [line for line in _read("halo_exchange.csv") if line["numbering"] == "XYZ"]
    times = {(_place(each), each["runtime"], each["toolchain"]): _seconds(each[PUBLISHED_AS]) for each in lines}
    timed = [line for line in lines if line[PUBLISHED_AS]]
    contenders = list(dict.fromkeys((line["runtime"], line["toolchain"]) for line in timed))
    rows = []
    for place in dict.fromkeys(map(_place, lines)):
        values = [times.get((place, *contender)) for contender in contenders]
        bases = [times.get((place, HAND_WRITTEN, toolchain)) for _, toolchain in contenders]
        scaled = [value * PER_EXCHANGE if value else None for value in values]
        rows.append((list(place), scaled, _speeds(values, bases)))
    columns = [f"{runtime} {toolchain}" for runtime, toolchain in contenders]
    return PublishedTable("GHEX benchmark on Betzy, 27 nodes × 64 ranks, hwcart, numbering XYZ", ["halo", "fields"], columns, rows)


def _gather() -> PublishedTable:
    lines = _read("index_map_gather.csv")
    times = {(line["mesh"], line["kind"], line["toolchain"]): _seconds(line["seconds_per_gather"]) for line in lines}
    contenders = list(dict.fromkeys((line["kind"], line["toolchain"]) for line in lines))
    rows = []
    for mesh in dict.fromkeys(line["mesh"] for line in lines):
        values = [times.get((mesh, *contender)) for contender in contenders]
        rows.append(([mesh], values, [None] * len(values)))
    return PublishedTable("Index-map gather of coarray-halo-exchange, 12 images", ["mesh"], list(map(" ".join, contenders)), rows)


def _place(line: dict[str, str]) -> tuple[str, str]:
    return line["halo_width"], line["fields"]


def _seconds(text: str) -> float | None:
    return float(text) if text.strip() else None


def _speeds(values: Sequence[float | None], bases: Sequence[float | None]) -> list[float | None]:
    return [base / value if base and value else None for value, base in zip(values, bases, strict=True)]


def _read(name: str) -> list[dict[str, str]]:
    folder = resources.files("parhelion.report").joinpath("published_data")
    return list(csv.DictReader(folder.joinpath(name).read_text(encoding="utf-8").splitlines()))
