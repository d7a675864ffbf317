"""Times relative to a contender that was measured beside them: whatever the machine did to both is taken out.

Contenders of a case take turns, so that sample i of one stands beside sample i of the other.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from ..records import RecordError
from ..records.model import Case
from .comparison import identity
from .sets import RecordSet

Key = tuple[int, str, bytes]


def relative_to(sets: Sequence[RecordSet], name: str) -> list[RecordSet]:
    """The same sets as if `name` had always taken its median over all of them; `name` itself is left out.

    Raises `RecordError` when a set has no verified timing of it. Lines of cases and starts without one are left out, too.
    """
    references = [_references(each, name) for each in sets]
    for each, found in zip(sets, references, strict=True):
        if not found:
            raise RecordError(f"{each.name} has no verified timing of {name}: choose a contender that both sides measured")
    usual = _usual(references)
    return [_relative(each, found, usual, name) for each, found in zip(sets, references, strict=True)]


def _references(records: RecordSet, name: str) -> dict[tuple[int, Key], np.ndarray]:
    """Samples of the reference by record, start and case."""
    return {(number, _key(line)): np.maximum(line.samples, 1e-12) for number, record in enumerate(records.records)
            for line in record.cases if line.contender == name and line.samples and line.verified is not False}  # fmt: skip


def _usual(references: Sequence[dict[tuple[int, Key], np.ndarray]]) -> dict[tuple[str, bytes], float]:
    """The reference's median per case, over all launches of all sets."""
    found: dict[tuple[str, bytes], list[np.ndarray]] = {}
    for each in references:
        for (_, (_, case, params)), samples in each.items():
            found.setdefault((case, params), []).append(samples)
    return {case: float(np.median(np.concatenate(samples))) for case, samples in found.items()}


def _relative(records: RecordSet, references: dict, usual: dict[tuple[str, bytes], float], name: str) -> RecordSet:
    made = []
    for number, record in enumerate(records.records):
        beside = [(line, references.get((number, _key(line)))) for line in record.cases if line.contender != name]
        lines = [_scaled(line, found, usual[_key(line)[1:]]) for line, found in beside if found is not None]
        made.append(replace(record, cases=lines))
    return RecordSet(f"{records.name} relative to {name}", made)


def _scaled(line: Case, reference: np.ndarray, usual: float) -> Case:
    # Launches that ended early may have samples without a partner: then the median stands for all.
    pace = reference if len(reference) == len(line.samples) else np.full(len(line.samples), np.median(reference))
    return msgspec.structs.replace(line, samples=(np.asarray(line.samples) * (usual / pace)).tolist())


def _key(line: Case) -> Key:
    return line.launch, line.name, identity(line.params)
