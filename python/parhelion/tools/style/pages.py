"""Pages and Markdown from templates, and their files."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from ...launch.disk import why
from . import words

Filters = dict[str, Callable[..., Any]]


def breaks(name: str) -> Markup:
    """A name that may be broken after its underscores."""
    return Markup("_<wbr>").join(str(name).split("_"))


OF_WORDS = (words.microseconds, words.duration, words.interval, words.times, words.times_ends, words.pipes, words.ratio, words.ratios,
            words.percent, words.ranges, breaks)  # fmt: skip
FILTERS: Filters = {each.__name__: each for each in OF_WORDS}


def render(package: str, template: str, filters: Filters, **values: Any) -> str:
    """A template of the package, which may include the theme; whatever the values hold is escaped in HTML."""
    environment = _environment(package)
    environment.filters.update(filters)
    return environment.get_template(template).render(**values)


@cache
def _environment(package: str) -> Environment:
    """Kept, with the templates that it has compiled."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("parhelion.tools.style")]),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    return environment


def write(path: Path, text: str, problem: type[Exception]) -> None:
    """Write a page, and the folder for it; raises `problem`. What a page shows may hold what is no text: that is replaced."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise problem(f"cannot write {path}: {why(error, path)}") from None
