"""What `parhelion compare` does with two of each kind, and with a run alone; each returns the exit status."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..show import Page
from ..show import compare as shown
from ..show.files import write
from .errors import OK, WRONG_VALUE
from .options import FAIL_ON
from ..show.output import Output
from ..analyze.sets import RecordSet, read_set
from ..analyze.comparison import compare
from ..analyze.comparison_document import comparison_document
from ..analyze.calibration import calibrate
from ..analyze.comparison import relative_to
from ..analyze.image_comparison import compare_images, image_document
from ..record.image import read_image
from ..analyze.profile_difference import compare_profiles, comparison_document as profile_document
from ..record.profile import read_profile
from ..show.speedscope import write as write_stacks
from ..record.model import RecordError
from ..analyze.verdict import IMAGE_RULES, Rules
from ..analyze.words import percent

How = Mapping[str, Any]


def runs(a: Path, b: Path, how: How, output: Output) -> int:
    """Case by case, with what changed around them."""
    first, second = _chosen([read_set(a), read_set(b)], how)
    found = compare(first, second, _rules(how, 0.0))
    output.show(shown.comparison(found, how["show_all"]))
    _files(lambda: shown.comparison_page(found), how, output)
    output.document(comparison_document(found))
    bad = any(str(row.verdict) in FAIL_ON[how["fail_on"]] for row in found.rows)
    return WRONG_VALUE if bad or found.failed["B"] else OK


def images(a: Path, b: Path, how: How, output: Output) -> int:
    """Likely causes first, then what changed."""
    found = compare_images(read_image(a), read_image(b), _rules(how, IMAGE_RULES.drift))
    output.show(shown.images(found, how["most"]))
    _files(lambda: shown.images_page(found), how, output)
    output.document(image_document(found))
    bad = any(str(row.verdict) in FAIL_ON[how["fail_on"]] for _, row in found.changed)
    return WRONG_VALUE if bad or found.failed else OK


def profiles(a: Path, b: Path, how: How, output: Output) -> int:
    """What takes more or less of the time; differences that sampling alone can explain are left out."""
    pair = read_profile(a), read_profile(b)
    found = compare_profiles(*pair)
    output.show(shown.profiles(found, how["most"]))
    _files(lambda: Page(f"{pair[1].name} against {pair[0].name}", "two profiles", shown.profiles(found, 1000)), how, output)
    if how["speedscope"]:
        write_stacks(pair, how["speedscope"])
        output.paths([how["speedscope"].resolve()])
    output.document(profile_document(found))
    return WRONG_VALUE if how["fail_on"] == "different" and any(each.shown for each in found.parts) else OK


def alone(run: Path, how: How, output: Output) -> int:
    """How often `compare` finds a difference among the launches of one run, where there is none, and one that was planted."""
    (records,) = _chosen([read_set(run)], how)
    found = calibrate(records, how["planted"], how["launches"], _rules(how, 0.0))
    for each in found:
        output.console.print(f"""{each.launches} launches a side, {each.design}: {each.splits} splits of {each.cases} cases × contenders
  A/A: {percent(each.false_pairs)} of pairs called different in at least one case; {percent(each.false_cases, 2)} of cases
  planted ×{each.planted:g}: found in {percent(each.found_pairs)} of pairs; {percent(each.found_cases)} of cases""")
    output.document({"schema": "parhelion.calibration/2", "designs": [asdict(each) for each in found]})
    return OK


def _rules(how: How, drift: float) -> Rules:
    return Rules(alpha=how["alpha"], least=how["least"], margin=how["margin"], drift=how["drift"] or drift)


def _chosen(sets: list[RecordSet], how: How) -> list[RecordSet]:
    """The sets with the named contenders, as times relative to one of them where that was asked for."""
    sets = relative_to(sets, how["relative_to"]) if how["relative_to"] else sets
    if how["contenders"]:
        for record in (record for each in sets for record in each.records):
            record.cases = [line for line in record.cases if line.contender in how["contenders"]]
    return sets


def _files(page: Callable[[], Page], how: How, output: Output) -> None:
    if how["html"] or how["markdown"]:
        output.paths(write(page(), how["html"], how["markdown"], RecordError))
