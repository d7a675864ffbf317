"""Writes random partition sets in the published layout: random_sets.py SEED FOLDER RANKS...

Each rank owns a block of 0 to 60 cells, often none, and reads whom it likes: nobody, everybody, one owner's whole block, cells
near its own block, or any.
"""

import random
import sys
from pathlib import Path

MOST = 60


def ghosts_of(rank: int, first: list[int], random_: random.Random) -> list[int]:
    """Ascending ids from 0 of cells that other ranks own."""
    own = range(first[rank], first[rank + 1])
    others = [*range(own.start), *range(own.stop, first[-1])]
    match random_.choice(("none", "all", "block", "near", "any", "any")):
        case "none":
            chosen = []
        case "all":
            chosen = others if len(others) < 40 * MOST else random_.sample(others, 40 * MOST)
        case "block":
            owner = random_.randrange(len(first) - 1)
            chosen = [id_ for id_ in range(first[owner], first[owner + 1]) if id_ not in own]
        case "near":
            chosen = [id_ for id_ in others if own.start - 3 <= id_ < own.stop + 3]
        case _:
            chosen = random_.sample(others, random_.randrange(min(len(others), 4 * MOST) + 1))
    return sorted(chosen)


def write_set(folder: Path, ranks: int, random_: random.Random) -> None:
    owned = [random_.choice((0, 1, random_.randrange(MOST + 1), MOST)) for _ in range(ranks)]
    first = [sum(owned[:rank]) for rank in range(ranks + 1)]
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(ranks):
        ghosts = ghosts_of(rank, first, random_)
        numbers = [owned[rank], len(ghosts), *(id_ + 1 for id_ in ghosts)]
        (folder / f"data{rank + 1:03d}").write_bytes(b"".join(number.to_bytes(4, "little") for number in numbers))


def main() -> None:
    seed, place, *counts = sys.argv[1:]
    print("seed", seed)
    for ranks in map(int, counts):
        write_set(Path(place) / f"random{seed}-{ranks}", ranks, random.Random(f"{seed}/{ranks}"))


if __name__ == "__main__":
    main()
