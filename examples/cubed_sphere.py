"""The wind carries a tracer around a cubed sphere, over corners of the cube.

    parhelion run -n 4 cubed_sphere.py
    parhelion run -n 4 cubed_sphere.py --picture cubed_sphere.png    # needs Matplotlib

Finite volumes of second order, with two ghosts around each tile. The difference is the lesson:
serial() fills ghosts by hand, parallel() with an exchange. The results are equal to the last bit,
ghosts included.
"""

import argparse
import math

import numpy as np

import parhelion as ph

CELLS, HALO = 60, 2  # along each side of a tile
AXIS = np.array([0, -1, 1]) / math.sqrt(2)  # the wind turns about it, from tile 0 over four corners
STEPS = 640  # of one revolution
TIME_STEP = 2 * math.pi / STEPS
WHOLE = slice(0, 6), slice(0, CELLS), slice(0, CELLS)


def window(block):
    """Where a block and the ghosts around it lie in an array of all tiles."""
    tiles, x, y = block
    return tiles, slice(x.start, x.stop + 2 * HALO), slice(y.start, y.stop + 2 * HALO)


def directions(x, y):
    """Unit vectors of points of each tile, whose axes x and y are the tangents of angles."""
    x, y = np.broadcast_arrays(x[:, None], y)
    one = np.ones_like(x)
    tiles = [(one, x, y), (-x, one, y), (-one, -x, y), (x, -one, y), (-y, x, one), (y, x, -one)]
    return np.array(tiles) / np.sqrt(1 + x * x + y * y)


def dot(vectors, vector):
    return vectors[:, 0] * vector[0] + vectors[:, 1] * vector[1] + vectors[:, 2] * vector[2]


def make_air(block=WHOLE):
    """Of a block: area of cells, the wind's flow through their faces, the tracer at first."""
    lines = np.tan(math.pi / 2 * (np.arange(CELLS + 1) / CELLS - 0.5))
    centers = np.tan(math.pi / 2 * ((np.arange(CELLS) + 0.5) / CELLS - 0.5))
    x, y = np.broadcast_arrays(lines[:, None], lines)
    angle = np.arctan(x * y / np.sqrt(1 + x * x + y * y))  # solid angle from a tile's center
    area = np.diff(np.diff(angle, axis=0), axis=1)
    stream = dot(directions(lines, lines), AXIS)
    near = dot(directions(centers, centers), (1, 0, 0))
    bell = np.maximum(0, 1 - (2 - 2 * near) / 0.45**2) ** 2
    tiles, x, y = block
    faces_x, faces_y = slice(x.start, x.stop + 1), slice(y.start, y.stop + 1)
    flow_x = np.diff(stream, axis=2)[tiles, faces_x, y]
    flow_y = -np.diff(stream, axis=1)[tiles, x, faces_y]
    return area[x, y], flow_x, flow_y, bell[block]


def carried(q, flow):
    """What flows through faces along axis 1: upwind, with van Leer's slopes (1974)."""
    step = np.diff(q, axis=1)
    before, after = step[:, :-1], step[:, 1:]
    rising = before * after > 0
    half = np.where(rising, before * after / np.where(rising, before + after, 1), 0)
    return flow * np.where(flow > 0, (q[:, 1:-1] + half)[:, :-1], (q[:, 1:-1] - half)[:, 1:])


def rate(air, q):
    """The rate of change of owned cells."""
    area, flow_x, flow_y, _ = air
    along, across = q[:, :, HALO:-HALO], q[:, HALO:-HALO].transpose(0, 2, 1)
    out_x = np.diff(carried(along, flow_x), axis=1)
    out_y = np.diff(carried(across, flow_y.transpose(0, 2, 1)), axis=1).transpose(0, 2, 1)
    return -(out_x + out_y) / area


def solve(air, q, fill, stops):
    """Runge-Kutta steps of two stages (Heun). Returns the tracer at these steps."""
    owned = q[:, HALO:-HALO, HALO:-HALO]
    owned[:] = air[3]
    fill()
    kept = [q.copy()] * stops.count(0)
    for step in range(1, stops[-1] + 1):
        before = owned.copy()
        owned += TIME_STEP * rate(air, q)
        fill()
        owned[:] = 0.5 * (before + (owned + TIME_STEP * rate(air, q)))
        fill()
        kept += [q.copy()] * stops.count(step)
    return kept


BESIDE = [  # at lower x, upper x, lower y, upper y of each tile: the one there, its quarter turns
    ((3, 0), (1, 0), (5, 0), (4, 0)),
    ((0, 0), (2, 0), (5, 1), (4, 3)),
    ((1, 0), (3, 0), (5, 2), (4, 2)),
    ((2, 0), (0, 0), (5, 3), (4, 1)),
    ((3, 3), (1, 1), (0, 0), (2, 2)),
    ((3, 1), (1, 3), (2, 2), (0, 0)),
]


def fill_by_hand(q):
    """All ghosts of all tiles but those beyond corners, where no cells are."""
    inside = slice(HALO, -HALO)
    for tile, sides in zip(q, BESIDE):
        beside = (np.rot90(q[other, inside, inside], turns) for other, turns in sides)
        left, right, below, above = beside
        tile[:HALO, inside], tile[-HALO:, inside] = left[-HALO:], right[:HALO]
        tile[inside, :HALO], tile[inside, -HALO:] = below[:, -HALO:], above[:, :HALO]


def serial(stops):
    q = np.zeros((6, CELLS + 2 * HALO, CELLS + 2 * HALO))
    solve(make_air(), q, lambda: fill_by_hand(q), stops)
    return q


def parallel(stops):
    domain = ph.CubedSphere(CELLS, halo=HALO)
    q = domain.zeros()
    kept = solve(make_air(domain.owned), np.asarray(q), ph.Exchange(domain, q), stops)
    return domain, q, kept


def draw(file, domain, results, degrees):
    """The globe from above a corner of the cube, with edges of the cube and borders of ranks."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no picture {file}: it needs Matplotlib (pip install matplotlib)")
        return
    lines = np.tan(math.pi / 2 * (np.arange(CELLS + 1) / CELLS - 0.5))
    corners = directions(lines, lines)
    toward = np.array([1, 1, 1]) / math.sqrt(3)
    right = np.array([-1, 1, 0]) / math.sqrt(2)
    seen = dot(corners, toward) > 0
    x, y = dot(corners, right), dot(corners, np.cross(toward, right))
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    cmap = colormaps["YlGnBu"].resampled(20)
    for axes, tracer, at in zip(figure.subplots(1, len(results)), results, degrees):
        for tile in range(6):
            cells = np.ma.masked_where(~seen[tile, :-1, :-1], tracer[tile])
            colors = axes.pcolormesh(x[tile], y[tile], cells, vmin=0, vmax=1, cmap=cmap)
            px, py = (np.ma.masked_where(~seen[tile], of[tile]) for of in (x, y))
            for k in range(0, CELLS + 1, 10):
                axes.plot(px[k], py[k], px[:, k], py[:, k], color="0.5", linewidth=0.2)
            for of_x, of_y, starts in ((px, py, domain.starts[1]), (px.T, py.T, domain.starts[2])):
                for k in starts:
                    axes.plot(of_x[k], of_y[k], color="black", linewidth=0.8)
            for k in (0, CELLS):
                axes.plot(px[k], py[k], px[:, k], py[:, k], color="tab:orange", linewidth=1.5)
        axes.set(aspect="equal", title=f"{at:.0f}°")
        axes.axis("off")
    figure.colorbar(colors, ax=figure.axes, location="bottom", shrink=0.3, label="tracer")
    figure.savefig(file, dpi=100, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--degrees", type=int, default=360)
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    degrees = [options.degrees * part / 360 for part in (0, 55, 110, 360)]
    stops = [round(STEPS * angle / 360) for angle in degrees]
    domain, q, kept = parallel(stops)
    expected = domain.comm.bcast(serial(stops) if domain.comm.rank == 0 else None)
    same = all(domain.comm.allgather(np.array_equal(q, expected[window(domain.owned)])))
    tracers = [domain.gather(each) for each in kept]
    if domain.comm.rank > 0:
        return

    print(f"{domain.comm.size} ranks as {domain.process_grid}:",
          "equal to" if same else "DIFFERENT FROM", "the serial result, ghosts included")
    area = make_air()[0]
    masses = [math.fsum((tracer * area).flat) for tracer in tracers]
    change = (masses[-1] - masses[0]) / masses[0]
    print(f"after {options.degrees}°: mass {change:+.1e}, maximum {tracers[-1].max():.3f}")
    if options.picture:
        draw(options.picture, domain, tracers, degrees)
    raise SystemExit(not same)


if __name__ == "__main__":
    main()
