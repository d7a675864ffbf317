"""Runs beside each rank: `python -m parhelion.tools.profiling.run.on_rank FOLDER COMMAND -- TOOL... -- PROGRAM...`.

This process becomes the tool (perf), whose child is the program, or the program itself where no tool is named, so that signals and the exit status take their usual
way. A watcher, which belongs to nobody, writes down what samples of a core cannot show: where the rank sleeps, for how
long, and which libraries it has mapped.
"""

import os
import sys

from ....launch.inside import inside_launcher
from .watch import watch

REPLACED = ("hpcrun",)  # sets its environment and becomes the program; perf stays beside it


def main(arguments: list[str]) -> None:
    """Never returns: the process becomes the tool."""
    folder, command = arguments[:2]
    tool, program = _split(arguments[3:])
    here = inside_launcher()
    rank = here.rank if here else 0
    _start_watcher(os.getpid(), command, os.path.join(folder, f"rank-{rank}.json"), not tool or os.path.basename(tool[0]) in REPLACED)
    argv = [word.replace("{rank}", str(rank)).replace("{folder}", folder) for word in tool] + program
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.exit(f"parhelion: cannot start {argv[0]}: {error.strerror}")


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    place = words.index("--")
    return words[:place], words[place + 1 :]


def _start_watcher(root: int, command: str, file: str, becomes: bool) -> None:
    """In a grandchild: perf waits for any child, so the watcher must not be one."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork() == 0:
        _leave_all_files()
        watch(root, command, file, becomes)
    os._exit(0)


def _leave_all_files() -> None:
    """A launcher waits until nobody holds its pipes any more."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.closerange(3, 4096)


if __name__ == "__main__":
    main(sys.argv[1:])
