"""Whatever was planted between two made-up images is the first of the causes, beside differences that explain nothing."""

import math
from dataclasses import replace

import numpy as np
import pytest
from made_up_images import OPEN_MPI, image
from scipy.stats import false_discovery_control

from made_up_machines import Noise, finds, images
from parhelion.analyze.images import compare_images
from parhelion.show.compare import headline, images_page
from parhelion.show.files import html, markdown
from parhelion.record.image import LoadedFile, read_image
from parhelion.analyze.statistics import DIFFERENT, IMAGE_RULES, Rules, Verdict, difference

HARMLESS = {"host": "there", "software": {"python": "3.13", "compiler": "c++ 14", "packages": {"numpy": "3.0"}}}
SLOW = "/opt/slow/libslow.so"
PLANTED = {
    "a control variable": ({"variables": {"MPIR_CVAR_NOLOCAL": "1"}}, "control variable MPIR_CVAR_NOLOCAL: not set → 1"),
    "a variable of the network": ({"variables": {"UCX_TLS": "tcp"}, "providers": {"UCX intra-node": "tcp"}}, "control variable UCX_TLS: not set → tcp"),
    "a variable set by a file": ({"own": {"MPIR_CVAR_ALLTOALL_THROTTLE": 1}}, "control variable MPIR_CVAR_ALLTOALL_THROTTLE, as the MPI reports it: 32 → 1"),
    "a preloaded library": ({"variables": {"LD_PRELOAD": SLOW}, "libraries": (SLOW,), "shares": {SLOW: 0.5, "/usr/lib/libmpi.so.12": 0.5}},
                            "library libslow.so preloaded in B alone"),
    "a loaded library": ({"libraries": (SLOW,), "shares": {SLOW: 0.5, "/usr/lib/libmpi.so.12": 0.5}}, "library libslow.so loaded in B alone"),
    "another file at the same place": ({"files": {"/usr/lib/libucp.so.0": LoadedFile(11, "dd")}}, "library libucp.so.0 has other content"),
    "a sleeping rank": ({"sleeping": 0.3}, "rank 1 sleeps in B"),
    "a rank that sleeps in a library": ({"sleeping": 0.3, "variables": {"LD_PRELOAD": SLOW}, "libraries": (SLOW,)},
                                        "rank 1 sleeps in B, which alone has preloaded libslow.so"),
    "another MPI": ({"mpi": OPEN_MPI, "build": "openmpi", "own": {"btl_sm_eager_limit": 4096}, "libraries": ("/opt/libopen-pal.so.80",),
                     "ranks_variables": {"OMPI_ALLOW_RUN_AS_ROOT": "1"}, "providers": {"Open MPI's pml": "ob1"}},
                    "another MPI: MPICH 5.0.2 → Open MPI v5.0.11"),
    "another channel": ({"providers": {"UCX intra-node": "tcp"}}, "the MPI chose another channel: UCX intra-node: sysv → tcp"),
    "another processor": ({"environment": {"cpu": {"model": "Other CPU"}}}, "another processor: cpu model: Some CPU → Other CPU"),
}


AS_EVER = {"providers": {"UCX intra-node": "sysv"}, "own": {"MPIR_CVAR_ALLTOALL_THROTTLE": 32}}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return read_image(image(tmp_path_factory.mktemp("images") / "plain", **AS_EVER))


def planted(folder, **how):
    """The other image, beside what differs and explains nothing."""
    how = AS_EVER | how
    return read_image(image(folder, seed=2, scale=1.5, **how | {"environment": HARMLESS | how.get("environment", {})}))


@pytest.mark.parametrize("what", PLANTED)
def test_what_was_planted_is_the_first_cause(plain, tmp_path, what):
    how, title = PLANTED[what]
    found = compare_images(plain, planted(tmp_path / "b", **how))
    assert found.causes[0].title.startswith(title), [cause.title for cause in found.causes]
    assert found.causes[0].likelihood == "probable"


def test_what_came_with_a_variable_is_no_cause_of_its_own(tmp_path):
    first = read_image(image(tmp_path / "a", mpi=OPEN_MPI, own={"btl_sm_eager_limit": 4096, "btl_uct_eager_limit": 1},
                             libraries=("/opt/libucp_of_mpi.so", "/opt/mca_btl_uct.so"), providers={"Open MPI's channels": "sm"}))
    second = image(tmp_path / "b", scale=2, mpi=OPEN_MPI, variables={"OMPI_MCA_btl": "tcp"}, providers={"Open MPI's channels": "tcp"})
    (cause,) = compare_images(first, read_image(second)).causes
    assert cause.title == "control variable OMPI_MCA_btl: not set → tcp" and "Open MPI's channels: sm → tcp" in cause.why


def test_a_run_that_was_cut_short_before_channels_were_asked_for_has_not_changed_them(plain, tmp_path):
    assert compare_images(plain, read_image(image(tmp_path / "b", seed=2, **AS_EVER | {"providers": {}}))).causes == []


def test_every_difference_belongs_to_one_cause(plain, tmp_path):
    found = compare_images(plain, planted(tmp_path / "b", **PLANTED["another MPI"][0]))
    told = [(each.kind, each.name) for cause in found.causes for each in cause.facts]
    assert sorted(told) == sorted((each.kind, each.name) for each in found.differences)
    of_mpi = ("OMPI_", "libopen-pal", "channel", "of its control variables")
    assert not any(word in cause.title for cause in found.causes for word in of_mpi), "these come of the MPI"


def test_a_variable_that_this_mpi_does_not_read_is_no_cause(plain, tmp_path):
    found = compare_images(plain, planted(tmp_path / "b", variables={"OMPI_MCA_btl": "tcp,self", "MPIR_CVAR_NOLOCAL": "1"}))
    by_name = {cause.title.split(":")[0]: cause for cause in found.causes}
    assert found.causes[0] is by_name["control variable MPIR_CVAR_NOLOCAL"]
    assert by_name["control variable OMPI_MCA_btl"].likelihood == "hardly"


def test_a_preloaded_library_that_takes_no_time_stands_behind_a_variable(plain, tmp_path):
    found = compare_images(plain, planted(tmp_path / "b", variables={"LD_PRELOAD": SLOW, "MPIR_CVAR_NOLOCAL": "1"}, libraries=(SLOW,)))
    assert [cause.title.split(":")[0] for cause in found.causes[:2]] == ["control variable MPIR_CVAR_NOLOCAL", "library libslow.so preloaded in B alone"]


def test_where_nothing_changed_there_is_nothing_to_explain(plain, tmp_path):
    others = {"environment": HARMLESS, "variables": {"MPIR_CVAR_NOLOCAL": "1"}, "sleeping": 0.3, "libraries": (SLOW,)}
    found = compare_images(plain, read_image(image(tmp_path / "b", seed=2, **AS_EVER | others)))
    assert found.changed == [] == found.causes and len(found.differences) > 5
    assert headline(found).startswith("No difference was found in 12 figures.")
    for text in (html(images_page(found)), markdown(images_page(found))):
        assert "No figure changed" in text and "MPIR_CVAR_NOLOCAL" in text


def test_figures_with_too_few_samples_are_counted_in_the_first_line(tmp_path):
    first, second = (read_image(image(tmp_path / name, seed=seed, launches=2)) for name, seed in (("a", 1), ("b", 2)))
    found = compare_images(first, second)
    few = found.count(Verdict.NOT_ENOUGH)
    assert few > 6 and f"{few} of 12 figures have too few samples" in headline(found)


def test_the_figures_of_all_benchmarks_are_one_family(plain, tmp_path):
    """Ten benchmarks with one clear figure each would otherwise have ten chances to be wrong."""
    other = read_image(image(tmp_path / "b", seed=2, scale=1.03, **AS_EVER))
    both = [replace(each, records=dict.fromkeys(("halo", "gather", "setup"), each.records["halo"])) for each in (plain, other)]
    rows = [row for each in compare_images(*both).benchmarks.values() for row in each.rows]
    p = [row.difference.shift.p_beyond(math.log1p(IMAGE_RULES.drift)) for row in rows]
    assert len(rows) == 36 and [row.difference.p_adjusted for row in rows] == pytest.approx(list(false_discovery_control(p)))


def test_a_drift_of_the_machine_is_no_difference_of_images():
    rng = np.random.default_rng(3)
    made = [[difference(*sides) for sides in images(rng, Noise(walk=0.003), 10)] for _ in range(20)]
    strict, usual = (sum(finds(each, DIFFERENT, rules) for each in made) for rules in (Rules(), IMAGE_RULES))
    assert usual <= 2 < strict, (strict, usual)


def test_equal_images_have_neither_changes_nor_causes(plain, tmp_path):
    found = compare_images(plain, read_image(image(tmp_path / "b", seed=2, **AS_EVER)))
    assert (found.causes, found.changed) == ([], [])


def test_the_other_way_round_the_side_is_told(plain, tmp_path):
    found = compare_images(planted(tmp_path / "b", **PLANTED["a sleeping rank"][0]), plain)
    assert found.causes[0].title == "rank 1 sleeps in A"
