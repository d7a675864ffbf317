"""A grid in one place: `gather` and `scatter` against NumPy."""

import random
import resource

import numpy as np
from _oracle import DTYPES, LAYOUTS, Sample, component_ids, encode
from _ranks import COMM, main, on_last, refused, seeds
from cartesian_ghosts import random_domain

import parhelion as ph

RANKS = (1, 2, 3, 4, 6)
MIB = 2**20


def test_one_rank_gets_what_all_own_and_gives_it_back():
    for seed in seeds(120):
        try:
            check_random_case(random.Random(seed))
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


def check_random_case(rng):
    arguments = random_domain(rng)
    ranks = list(range(COMM.size))
    rng.shuffle(ranks)
    orders = ["last", "first"] + ([ranks] if "process_grid" in arguments else [])
    domain = ph.CartesianDomain(**arguments, rank_order=rng.choice(orders), boundary=rng.choice(["open", "owned"]))
    stagger = [rng.randint(0, 1) for _ in domain.extents]
    points = domain.staggered(stagger)
    if rng.random() < 0.3:
        domain, stagger = points, [0] * domain.dimensions
    kind, components, order, root = rng.choice(DTYPES), rng.choice([(), (3,), (2, 2)]), rng.choice("CF"), rng.randrange(COMM.size)
    sides = tuple((rng.randint(0, lower), rng.randint(0, upper)) for lower, upper in domain.halo)
    values = encode(component_ids(np.arange(np.prod(points.extents)).reshape(points.extents), components, 0), kind)

    def block_samples():
        shapes = [domain.array_shape(sides, block, stagger) for block in range(len(domain.blocks))]
        return [Sample(shape, components, kind, order, layout) for shape in shapes]

    def owned(array, block):
        return array[tuple(slice(lower, lower + part.stop - part.start) for (lower, _), part in zip(sides, points.blocks[block]))]

    layout = rng.choice(LAYOUTS)
    samples, targets = block_samples(), block_samples()
    layout = rng.choice(LAYOUTS)
    out = Sample(points.extents, components, kind, rng.choice("CF"), layout)
    for block, (sample, target) in enumerate(zip(samples, targets)):
        owned(sample.view, block)[...] = values[points.blocks[block]]
        sample.expect()
        target.expect()
        owned(target.expected, block)[...] = values[points.blocks[block]]
    out.expect()
    if COMM.rank == root:
        out.expected[...] = values
        values.flags.writeable = False
    field, target = (ph.Field([each.view for each in which], sides, stagger) for which in (samples, targets))
    whole = domain.gather(field, root)
    same = domain.gather(field, root, out.view)
    domain.scatter(values if COMM.rank == root else None, target, root)
    assert (whole is not None) == (same is out.view) == (COMM.rank == root)
    assert whole is None or (whole.shape == values.shape and whole.dtype == kind and whole.tobytes() == values.tobytes()), repr(domain)
    for each in (*samples, *targets, out):
        each.check(f"{domain!r}, stagger {stagger}, {kind} × {components}, {order}, {layout}")


def test_arrays_of_the_domain_are_gathered_as_they_are():
    domain = ph.CartesianDomain((3 * COMM.size, 5), halo=1, periodic=(False, True), process_grid=(COMM.size, 1))
    u, faces = domain.full(-1.0, "f4"), domain.zeros("i8", stagger=(1, 1), components=2, order="F")
    x, y = domain.global_indices()
    u.owned[:] = 10 * x + y
    faces.owned[..., 0], faces.owned[..., 1] = COMM.rank, 1
    whole, all_faces = domain.gather(u), domain.gather(faces, root=COMM.size - 1)
    if COMM.rank == 0:
        assert type(whole) is np.ndarray and (whole == np.add.outer(10 * np.arange(3 * COMM.size), np.arange(5))).all()
        whole += 1
    domain.scatter(whole, u)
    assert (u.owned == 10 * x + y + 1).all() and np.asarray(u).sum() == u.owned.sum() - (u.size - u.owned.size)
    if all_faces is not None:
        assert all_faces.shape == (3 * COMM.size + 1, 5, 2) and all_faces[..., 1].all()
        assert all_faces[:, 2, 0].tolist() == [*np.repeat(np.arange(COMM.size), 3), COMM.size - 1]


def test_no_rank_holds_the_whole_beside_the_result():
    if COMM.size > 2:
        return
    bytes_of_all = 192 * MIB
    domain = ph.CartesianDomain((24, MIB), process_grid=(COMM.size, 1), splits=[[0] * (COMM.size - 1) + [24], None], halo=0)
    u = np.empty([part.stop - part.start for part in domain.owned])
    u[...] = np.arange(u.size).reshape(u.shape)
    out = np.zeros(domain.extents) if COMM.rank == 0 else None  # whose pages count in the end
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    domain.gather(u, out=out)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert more < (bytes_of_all if COMM.rank == 0 else 0) + 80 * MIB, more
    assert out is None or (out.ravel() == np.arange(out.size)).all()
    u[...] = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    domain.scatter(out, u)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert more < 80 * MIB, more
    assert (u.ravel() == np.arange(u.size)).all()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    if COMM.rank == 0:
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 100 * MIB, limits[1]))
    refused(ph.ResourceError, domain.gather, u)
    resource.setrlimit(resource.RLIMIT_AS, limits)


def test_what_does_not_fit_is_refused_on_every_rank():
    domain = ph.CartesianDomain((4 * COMM.size, 3), process_grid=(COMM.size, 1))
    u, last = domain.zeros(), COMM.size - 1
    refused(ValueError, domain.gather, u, COMM.size, says="does not exist")
    refused(TypeError, domain.gather, u, "0", says="root")
    refused(ValueError, domain.gather, on_last(u[1:], u), last, says="has shape")
    refused(ValueError, domain.gather, u, last, np.zeros((4 * COMM.size, 4)), says="grid with its components")
    refused(ValueError, domain.scatter, None, u, says="grid with its components")
    refused(TypeError, domain.gather, u, last, np.zeros((4 * COMM.size, 3), "f4"), says="equal dtype")
    read_only = np.zeros((4 * COMM.size, 3))
    read_only.flags.writeable = False
    refused(ValueError, domain.gather, u, last, read_only, says="read-only")
    together = np.zeros((4 * COMM.size, 3))
    refused(ValueError, domain.gather, ph.Field(together[domain.owned], halo=0), 0, together, says="shares memory")
    refused(ValueError, domain.scatter, together, ph.Field(together[domain.owned], halo=0), says="shares memory")
    if COMM.size > 1:
        refused(ValueError, domain.gather, u, COMM.rank, says="same root")
        refused(ValueError, domain.gather, on_last(domain.zeros("f4"), u), says="type")
        refused(ValueError, domain.scatter, together, on_last(domain.zeros(components=2), u), says="components")
        refused(ValueError, domain.gather, on_last(domain.zeros(stagger=(0, 1)), u), says="stagger")
        turned = domain.zeros(components=on_last((3, 2), (2, 3))).transpose(0, 1, 3, 2)
        refused(ValueError, domain.gather, turned, says="components that are not contiguous")
    assert domain.gather(u, last, np.ones((4 * COMM.size, 3))) is None or COMM.rank == last


if __name__ == "__main__":
    main(globals())
