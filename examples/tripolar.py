"""Waves cross the fold of a tripolar ocean, on one process and on many.

    parhelion run -n 4 tripolar.py
    parhelion run -n 8 tripolar.py --picture tripolar.png    # needs Matplotlib

Shallow water around continents on a sphere, with one ghost around the grid. The difference is the
lesson: serial() fills ghosts by hand, parallel() with an exchange. The results are equal to the
last bit, ghosts included.
"""

import argparse
import math
from types import SimpleNamespace

import numpy as np

import parhelion as ph

NX, NY = 360, 192  # cells along and across; the southern wall is at 65° S
ANGLE = 2 * math.pi / NX
RADIUS, ROTATION, GRAVITY, DEPTH = 6.371e6, 7.292e-5, 9.81, 4000.0  # m, 1/s, m/s², m
TIME_STEP = 120.0  # s
POLE = 80, 55  # longitude and latitude of a pole of the grid; the other one is opposite, at 100° W
FOCUS = math.tan(math.radians(90 - POLE[1]) / 2)
BUMP, BUMP_RADIUS, BUMP_HEIGHT = (-160, 83), 0.14, 1.0  # at; of the globe's radius; m
LAND = [  # disks: longitude, latitude and radius in degrees
    (-100, 53, 18), (-80, 52, 12), (-125, 60, 8), (-150, 65, 5), (-105, 35, 13), (-85, 36, 7),
    (-97, 19, 7), (-85, 13, 4), (-42, 72, 9), (-62, -4, 14), (-52, -12, 13), (-64, -25, 11),
    (-69, -41, 8), (80, 53, 18), (110, 58, 15), (140, 62, 11), (165, 66, 6), (50, 55, 13),
    (25, 53, 9), (5, 47, 6), (15, 65, 5), (100, 35, 17), (78, 22, 10), (55, 32, 11), (103, 16, 6),
    (5, 17, 16), (25, 18, 16), (24, -8, 17), (24, -23, 11), (47, -19, 4), (114, 0, 5),
    (140, -5, 4), (135, -25, 12), (122, -26, 8), (146, -28, 7),
]
STAGGERS, SIGNS = ((0, 0), (1, 0), (0, 1)), (1, -1, -1)  # of h, u, v; signs beyond the fold
BEYOND = {"corner": 0.5, "center": 0.0}  # by pivot: the fold is so many cells from the last centers
WHOLE = slice(0, NX), slice(0, NY)


def window(block, stagger=(0, 0)):
    """Where a block's points and the ghosts around them lie in an array of the whole grid."""
    return tuple(slice(axis.start, axis.stop + more + 2) for axis, more in zip(block, stagger))


def make_points(pivot, block, stagger=(0, 0)):
    """Of each point and ghost: x and y on a stereographic map, a unit vector, the side of its cell.

    The lines of the grid are confocal ellipses and hyperbolas on the map (Murray 1996):
    x + iy = FOCUS cosh(b + ia), a along the ellipses. These shrink to the fold, b = 0, from one
    pole of the grid to the other. Beyond it b is negative, which gives points of the other half.
    The map and cosh keep angles, so that cells are squares. Sides are in meters.
    """
    i, j = (np.arange(-1, cells + more + 1) - more / 2 for cells, more in zip((NX, NY), stagger))
    a, b = ANGLE * (BEYOND[pivot] + i), ANGLE * (BEYOND[pivot] + NY - 1 - j)
    along, across = window(block, stagger)  # cut after cos, whose bits could depend on the length
    cos_a, sin_a = np.cos(a)[along, None], np.sin(a)[along, None]
    cosh_b, sinh_b = np.cosh(b)[across], np.sinh(b)[across]
    x, y = FOCUS * cosh_b * cos_a, FOCUS * sinh_b * sin_a
    scale = 2 / (1 + x * x + y * y)
    side = RADIUS * ANGLE * FOCUS * scale * np.sqrt(sinh_b * sinh_b + sin_a * sin_a)
    side = np.maximum(side, 1.0)  # the poles of the grid, on land, would have none
    return SimpleNamespace(x=x, y=y, unit=(x * scale, y * scale, scale - 1), side=side)


def cosine(points, longitude, latitude):
    """Of the angle between points and a place in degrees."""
    east, north = math.radians(longitude - POLE[0]), math.radians(latitude)
    x, y, z = points.unit
    return (x * math.cos(east) + y * math.sin(east)) * math.cos(north) + z * math.sin(north)


def make_sea(pivot, block=WHOLE):
    """The sea of a block and its ghosts, from global indices alone."""
    cells, corners = make_points(pivot, block), make_points(pivot, block, (1, 1))
    land = np.zeros(cells.side.shape, bool)
    for *place, radius in LAND:
        land |= cosine(cells, *place) > math.cos(math.radians(radius))
    if block[1].start == 0:
        land[:, 0] = True  # the southern wall
    bump = np.maximum(0, 1 - (2 - 2 * cosine(cells, *BUMP)) / BUMP_RADIUS**2) ** 2
    return SimpleNamespace(
        land=land,
        start=DEPTH + BUMP_HEIGHT * bump * ~land,
        side=cells.side,
        side_u=make_points(pivot, block, (1, 0)).side,
        side_v=make_points(pivot, block, (0, 1)).side,
        open_u=~(land[1:] | land[:-1])[:, 1:-1],  # faces that are no coasts
        open_v=~(land[:, 1:] | land[:, :-1])[1:-1],
        corner_area=corners.side[1:-1, 1:-1] ** 2,
        coriolis=2 * ROTATION * corners.unit[2][1:-1, 1:-1],
    )


def mean(a, axis):
    return 0.5 * (a[1:] + a[:-1] if axis == 0 else a[:, 1:] + a[:, :-1])


def kinetic(sea, u, v):
    """Kinetic energy per mass in cells: half of what each of their faces has."""
    squares = mean((sea.side_u * u) ** 2, 0) + mean((sea.side_v * v) ** 2, 1)
    return squares / (2 * sea.side**2)


def rates(sea, h, u, v):
    """Rates of change of all but ghosts: thickness h in cells, velocities u and v on their faces.

    The scheme that conserves energy of Sadourny (1975), in curvilinear coordinates.
    """
    flow_x = sea.side_u[1:-1] * u[1:-1] * mean(h, 0)  # through faces, m³/s
    flow_y = sea.side_v[:, 1:-1] * v[:, 1:-1] * mean(h, 1)
    circulation = np.diff(sea.side_v * v, axis=0)[:, 1:-1] - np.diff(sea.side_u * u, axis=1)[1:-1]
    vorticity = (sea.coriolis + circulation / sea.corner_area) / mean(mean(h, 0), 1)  # potential
    head = GRAVITY * h + kinetic(sea, u, v)
    push_x = mean(vorticity * mean(flow_y, 0), 1) - np.diff(head, axis=0)[:, 1:-1]
    push_y = -mean(vorticity * mean(flow_x, 1), 0) - np.diff(head, axis=1)[1:-1]
    inflow = -np.diff(flow_x, axis=0)[:, 1:-1] - np.diff(flow_y, axis=1)[1:-1]
    return (
        inflow / sea.side[1:-1, 1:-1] ** 2,
        sea.open_u * push_x / sea.side_u[1:-1, 1:-1],
        sea.open_v * push_y / sea.side_v[1:-1, 1:-1],
    )


def solve(sea, state, fill, stops):
    """Three-stage Runge-Kutta (Wicker and Skamarock 2002). Returns h at these steps."""
    state[0][:] = sea.start
    kept = []
    for step in range(1, stops[-1] + 1):
        before = [values[1:-1, 1:-1].copy() for values in state]
        for part in (3, 2, 1):
            for values, old, rate in zip(state, before, rates(sea, *state)):
                values[1:-1, 1:-1] = old + TIME_STEP / part * rate
            fill()
        kept += [state[0].copy()] * stops.count(step)
    return kept


def serial(pivot, stops):
    state = [np.zeros((NX + 2 + x, NY + 2 + y)) for x, y in STAGGERS]
    solve(make_sea(pivot), state, lambda: fill_by_hand(pivot, state), stops)
    return state


def fill_by_hand(pivot, state):
    """All ghosts of the whole grid. Index k is at k + 1 in arrays."""
    corner, columns = int(2 * BEYOND[pivot]), np.arange(NX)
    for values, sign, (more_x, more_y) in zip(state, SIGNS, STAGGERS):
        inside = values[1 : NX + 1]
        other = (NX - corner + more_x - columns) % NX  # the column that meets each one
        for row in range(NY - 1, NY + more_y + 1):
            source = 2 * NY - 2 + corner + more_y - row
            if source == row:  # on the line two points are one: that of the smaller column counts
                mine = columns[other < columns]
                inside[mine, row + 1] = sign * inside[other[mine], row + 1]
            elif source < row:
                inside[:, row + 1] = sign * inside[other, source + 1]
        values[0], values[NX + 1 :] = values[NX], values[1 : 2 + more_x]  # periodic


def parallel(pivot, stops):
    fold = ph.fold(axis=1, side="upper", pivot=pivot)
    domain = ph.CartesianDomain((NX, NY), halo=1, periodic=(True, False), seams=[fold])
    h, u, v = (domain.zeros(stagger=stagger) for stagger in STAGGERS)
    fill = ph.Exchange(domain, h, ph.Field(u, sign=-1), ph.Field(v, sign=-1))
    state = [np.asarray(values) for values in (h, u, v)]
    kept = solve(make_sea(pivot, domain.owned), state, fill, stops)
    return domain, state, kept


def totals(sea, pivot, h, u, v):
    """The volume of the sea, and its energy above rest divided by its density."""
    area = (sea.side**2 * ~sea.land)[1:-1, 1:-1]
    if pivot == "center":
        area[:, -1] /= 2  # the line goes through these cells: two of them are one
    energy = h * kinetic(sea, u, v) + GRAVITY * (h - DEPTH) ** 2 / 2
    return np.array([math.fsum((area * of[1:-1, 1:-1]).flat) for of in (h, energy)])


def draw(file, domain, pivot, sea, kept, hours):
    """Maps about the north pole with the fold and the blocks of ranks, and one of the globe."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no picture {file}: it needs Matplotlib (pip install matplotlib)")
        return
    figure = Figure(figsize=(9, 8), layout="constrained")
    places = figure.add_gridspec(2, 3, height_ratios=(1, 1.15))
    bar = {"orientation": "horizontal", "shrink": 0.4, "aspect": 30, "label": "sea surface, m"}
    cmap = colormaps["RdBu_r"].resampled(25)
    waves = [np.ma.masked_where(sea.land[1:-1, 1:-1], h - DEPTH) for h in kept]

    turn = np.exp(1j * math.radians(POLE[0] - 90))  # Greenwich points down
    points = make_points(pivot, WHOLE, (1, 1))
    corners = turn * (points.x + 1j * points.y)[1:-1, 1:-1]
    fold = turn * FOCUS * np.array([-1, 1])
    columns, rows = domain.starts
    for k in range(3):
        axes = figure.add_subplot(places[0, k])
        x, y = corners.real, corners.imag
        colors = axes.pcolormesh(x, y, waves[k], vmin=-0.3, vmax=0.3, cmap=cmap)
        for line in (*corners[::12], *corners.T[::12]):
            axes.plot(line.real, line.imag, color="0.5", linewidth=0.2)
        for line in (*corners[list(columns)], *corners.T[list(rows[:-1])]):
            axes.plot(line.real, line.imag, color="black", linewidth=0.9)
        axes.plot(fold.real, fold.imag, color="tab:orange", linewidth=2)
        axes.set(xlim=(-0.3, 0.3), ylim=(-0.3, 0.3), aspect="equal", xticks=[], yticks=[])
        axes.set(facecolor="0.8", title=f"{hours[k]:.2g} h")
    for rank in range(domain.comm.size):
        x, y = domain.coordinates_of(rank)
        place = corners[(columns[x] + columns[x + 1]) // 2, NY - 20]
        if rows[y + 1] == NY:
            figure.axes[0].text(place.real, place.imag, f"rank {rank}", ha="center", va="center")
    figure.colorbar(colors, ax=figure.axes, **bar)

    # The globe, 100° W in the middle: each pixel has the color of its cell.
    degrees = np.arange(-179.75, 180, 0.5)
    east, north = np.meshgrid(np.radians(degrees), np.radians(degrees / 2))
    ba = np.arccosh(-np.tan((math.pi / 2 - north) / 2) * np.exp(1j * east) / FOCUS)
    i = np.rint(ba.imag / ANGLE - BEYOND[pivot]).astype(int) % NX
    j = np.rint(BEYOND[pivot] + NY - 1 - ba.real / ANGLE).astype(int)
    pixels = np.ma.masked_where(j < 0, waves[3][i, j.clip(0, NY - 1)])
    axes = figure.add_subplot(places[1, :], projection="mollweide")
    colors = axes.pcolormesh(east, north, pixels, cmap=cmap, vmin=-0.1, vmax=0.1)
    for meridian in (-math.pi, 0, math.pi):
        axes.plot([meridian, meridian], np.radians([POLE[1], 90]), color="tab:orange", linewidth=2)
    axes.set(xticks=[], yticks=[], facecolor="0.8", title=f"{hours[3]:.2g} h")
    figure.colorbar(colors, ax=axes, ticks=(-0.1, 0, 0.1), **bar)
    figure.savefig(file, dpi=100, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pivot", choices=("corner", "center"), default="corner")
    parser.add_argument("--hours", type=float, default=12)
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    pivot, steps = options.pivot, options.hours * 3600 / TIME_STEP
    stops = [max(1, round(steps * part)) for part in (1 / 24, 1 / 12, 1 / 6, 1)]
    domain, state, kept = parallel(pivot, stops)
    expected = domain.comm.bcast(serial(pivot, stops) if domain.comm.rank == 0 else None)
    here = [whole[window(domain.owned, stagger)] for whole, stagger in zip(expected, STAGGERS)]
    same = all(domain.comm.allgather(all(map(np.array_equal, state, here))))
    kept = [domain.gather(h) for h in kept]
    if domain.comm.rank > 0:
        return

    print(f"{domain.comm.size} ranks as {domain.process_grid}, fold about a {pivot}:",
          "equal to" if same else "DIFFERENT FROM", "the serial result, ghosts included")
    sea = make_sea(pivot)
    start = totals(sea, pivot, sea.start, *(0 * u for u in expected[1:]))
    volume, energy = (totals(sea, pivot, *expected) - start) / start
    print(f"after {options.hours:g} h: volume {volume:+.1e}, energy of the waves {energy:+.1e}")
    if options.picture:
        hours = [stop * TIME_STEP / 3600 for stop in stops]
        draw(options.picture, domain, pivot, sea, kept, hours)
    raise SystemExit(not same)


if __name__ == "__main__":
    main()
