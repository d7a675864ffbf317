"""Exchanges of examples fill every ghost of random fields as their serial runs do: also where waves and tracers never come."""

import sys
from pathlib import Path

import numpy as np
from _ranks import main

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "examples"))
import cubed_sphere
import tripolar

RANKS = (1, 2, 3, 4, 6)


def noise(pivot, block=tripolar.WHOLE):
    """In place of the sea: a number for each point, -1 for each ghost."""
    fields = []
    for x, y in tripolar.STAGGERS:
        whole = np.random.default_rng(7).random((tripolar.NX + 2 + x, tripolar.NY + 2 + y))
        field = whole[tripolar.window(block, (x, y))]
        field[0], field[-1], field[:, 0], field[:, -1] = -1, -1, -1, -1
        fields.append(field)
    return fields


def fill_once(fields, state, fill, stops):
    """In place of the solver."""
    for values, field in zip(state, fields, strict=True):
        values[:] = field
    fill()


def test_every_ghost_of_the_tripolar_example_is_that_of_its_serial_run():
    tripolar.make_sea, tripolar.solve = noise, fill_once
    wrong = []
    for pivot in ("corner", "center"):
        domain, state, _ = tripolar.parallel(pivot, [1])
        for values, whole, stagger in zip(state, tripolar.serial(pivot, [1]), tripolar.STAGGERS, strict=True):
            places = np.argwhere(values != whole[tripolar.window(domain.owned, stagger)])
            wrong += [(pivot, stagger, *place) for place in places.tolist()]
    assert not wrong, f"{len(wrong)} values, first {wrong[:5]}"


def test_every_ghost_of_the_cubed_sphere_example_is_that_of_its_serial_run():
    width, inside = cubed_sphere.HALO, slice(cubed_sphere.HALO, -cubed_sphere.HALO)
    length = cubed_sphere.CELLS + 2 * width

    def noise(block=cubed_sphere.WHOLE):
        return np.random.default_rng(7).random((6, length, length))[cubed_sphere.window(block)][:, inside, inside]

    def fill_once(owned, q, fill, stops):
        q[:] = -1
        q[:, inside, inside] = owned
        fill()

    cubed_sphere.make_air, cubed_sphere.solve = noise, fill_once
    domain, q, _ = cubed_sphere.parallel([1])
    wrong = np.argwhere(q != cubed_sphere.serial([1])[cubed_sphere.window(domain.owned)])
    assert not len(wrong), f"{len(wrong)} values, first {wrong[:5].tolist()}"


if __name__ == "__main__":
    main(dict(globals()))
