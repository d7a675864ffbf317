"""The models of the protocols in shared memory, checked exhaustively by spin; with a fault planted they must fail."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
WRONG_GHOST = "assertion violated"
WAITS_FOR_EVER = "invalid end state"

pytestmark = pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed (Debian: apt install spin)")

SOUND = [
    ("shared", "ROUNDS=4"),
    ("shared", "HELPER"),
    ("shared", "EXCHANGES=2 NO_LEAVE"),
    ("shared", "EXCHANGES=2 ROUNDS=2 HELPER NO_LEAVE"),
    ("shared", "EXCHANGES=2 ROUNDS=1 HELPER"),
    ("shared", "ROUNDS=4 AWAY"),
    ("shared_reverse", "ROUNDS=4"),
    ("shared_reverse", "AWAY"),
    ("shared_reverse", "UNMAPPED ROUNDS=4"),
    ("shared_reverse", "ONE_WAY ROUNDS=6"),
    ("ring", ""),
    ("ring", "ONE_WAY"),
    ("window", ""),
    ("sleeper", ""),
]
FAULTY = [
    ("shared", "NO_GRANT", WRONG_GHOST),
    ("shared", "RELAXED", WRONG_GHOST),
    ("shared", "LATE_PLACE", WRONG_GHOST),
    ("shared", "NO_HOLD HELPER", WRONG_GHOST),
    ("shared", "AWAY NO_LEAVE", WAITS_FOR_EVER),
    ("shared", "ONE_SLOT", WRONG_GHOST),
    ("shared", "ONE_NOTE", WRONG_GHOST),
    ("shared", "NO_BACKGROUND NO_LEAVE EXCHANGES=2", WAITS_FOR_EVER),
    ("shared_reverse", "NO_CLAIM", WRONG_GHOST),
    ("shared_reverse", "RELAXED", WRONG_GHOST),
    ("shared_reverse", "NOTE_LATE", WRONG_GHOST),
    ("shared_reverse", "AWAY NO_LEAVE", WAITS_FOR_EVER),
    ("shared_reverse", "UNMAPPED SLOTS=1", WRONG_GHOST),
    ("shared_reverse", "ONE_WAY SLOTS=2 ROUNDS=6", WRONG_GHOST),
    ("ring", "DEPTH=1", WRONG_GHOST),
    ("ring", "RELAXED", WRONG_GHOST),
    ("ring", "ONE_WAY DEPTH=2", WRONG_GHOST),
    ("ring", "ONE_WAY NO_ACK", WRONG_GHOST),
    ("ring", "ONE_WAY EARLY_ACK", WRONG_GHOST),
    ("ring", "ONE_WAY ACK_AT_READER", WAITS_FOR_EVER),
    ("ring", "ONE_WAY GONE_EARLY", WRONG_GHOST),
    ("window", "NO_COUNT", WRONG_GHOST),
    ("window", "ONE_COUNT_AHEAD", WRONG_GHOST),
    ("window", "EARLY_COUNT", WRONG_GHOST),
    ("window", "RELAXED", WRONG_GHOST),
    ("sleeper", "NO_POSTER_FENCE", WAITS_FOR_EVER),
    ("sleeper", "NO_SLEEPER_FENCE", WAITS_FOR_EVER),
    ("sleeper", "NO_REPOLL", WAITS_FOR_EVER),
    ("sleeper", "DOORBELL_LATE", WAITS_FOR_EVER),
]


def search(model: str, settings: str, directory: Path, options: tuple[str, ...] = ()) -> str:
    """What spin's verifier prints after it has gone through every state, or to the first fault."""
    defines = [f"-D{word}" for word in settings.split()]
    compiler = shutil.which("cc") or shutil.which("gcc")
    for command in (
        ["spin", "-a", *defines, HERE / f"{model}.pml"],
        [compiler, "-O1", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"],
        ["./pan", "-m100000", "-n", *options],
    ):
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def errors(printed: str) -> int:
    assert "error: max search depth too small" not in printed, "not every state was reached"
    return int(re.search(r"errors: (\d+)", printed)[1])


@pytest.mark.parametrize(("model", "settings"), SOUND)
def test_no_order_of_steps_gives_a_wrong_ghost_or_a_wait_without_end(model, settings, tmp_path):
    printed = search(model, settings, tmp_path)
    assert errors(printed) == 0, printed


@pytest.mark.parametrize(("model", "settings", "kind"), FAULTY)
def test_a_planted_fault_is_found(model, settings, kind, tmp_path):
    # -E: a fault may also make ranks wait for ever, what is looked for is the wrong ghost.
    printed = search(model, settings, tmp_path, ("-E",) if kind == WRONG_GHOST else ())
    assert errors(printed) > 0
    assert kind in printed
