"""Messages and bytes of `--per-node`, by the innermost level of the machine that sender and receiver share."""

from rich.console import Console
from rich.markup import escape

from ..documents.document import by_level
from ..documents.params import in_order, text, varying
from ..documents.results import CaseResult, results
from ..records import Record
from ..style.terminal import table

ORDER = ("own_rank", "pu", "core", "l2", "l3", "numa", "pack", "node", "other_node", "busiest_node")  # from the inside out
CAPTION = ("messages / bytes of all ranks in one exchange, one message per pair of neighbors as the exchange owes them; own rank: copies; "
           "busiest node: what leaves it")  # fmt: skip


def print_levels(console: Console, record: Record) -> None:
    """A row per case and contender that told; nothing where none did."""
    cases = in_order(results(record.cases))
    found = [(case, entry.contender, told) for case in cases for entry in case.entries.values() if (told := by_level(entry))]
    if not found:
        return
    told_of = {name for _, _, told in found for name, sums in told.items() if any(sums.values())}
    levels, parameters = [name for name in ORDER if name in told_of], varying(cases)
    shown = table("messages by level", CAPTION, left=[*parameters, "contender"], right=[name.replace("_", " ") for name in levels])
    for case, contender, told in found:
        shown.add_row(*_values(case, parameters), escape(contender), *(_cell(told.get(name, {})) for name in levels))
    console.print(shown)


def _values(case: CaseResult, parameters: list[str]) -> list[str]:
    return [escape(text(case.params.get(name))) for name in parameters]


def _cell(told: dict[str, int]) -> str:
    return f"{told['messages']:,} / {told['bytes']:,}" if any(told.values()) else "–"
