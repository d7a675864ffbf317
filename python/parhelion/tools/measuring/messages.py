"""What went wrong, out of what many ranks and their launcher printed."""

import re
import signal
from collections.abc import Iterable

RANK_PREFIX = re.compile(r"^\s*(\[[\w.:/-]*\d[\w.:/, -]*\]|rank\s+\d+:|\d+:)\s*", re.IGNORECASE)
OWN_PREFIX = re.compile(r"^(phl-bench|parhelion(?:\.\w+)?)(\[\d+\])?:\s*(error:\s*)?")
LONGEST = 12
NOISE = re.compile(r"^[=\-|\s]*$|^\|?\s*(PID|=)\s")


def rank_message(lines: Iterable[str]) -> str | None:
    """The ranks' own error, once; without one, the last distinct lines that were printed."""
    texts = [RANK_PREFIX.sub("", line).strip() for line in lines if not NOISE.match(line)]
    own = [OWN_PREFIX.sub("", text) for text in texts if OWN_PREFIX.match(text)]
    chosen = list(dict.fromkeys(own or texts))
    return "\n".join(chosen[-LONGEST:]) or None


def first_words(message: str | None, most: int = 200) -> str:
    """The beginning of a message as one line, up to the end of a sentence where there is one."""
    text = " ".join((message or "they said nothing").split())
    if len(text) <= most:
        return text
    sentence = text[:most].rfind(". ")
    return text[: sentence + 1] if sentence > 0 else text[:most] + "…"


def exit_text(code: int) -> str:
    """How a process ended, in words: launchers report a signal as 128 + its number."""
    number = -code if code < 0 else code - 128
    if code < 0 or 128 < code < 160:
        try:
            return f"killed by {signal.Signals(number).name}"
        except ValueError:
            pass
    return f"exit status {code}"
