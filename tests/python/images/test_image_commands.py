"""`parhelion bench image`: an image is measured into one folder, two are compared into a page; what was planted is named first."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner
from made_up_images import OPEN_MPI, image
from measured import built
from perf import perf_works
from synthetic import write_dataset

from parhelion.launch import find_build
from parhelion.analyze.images import ImageComparison, causes, compare_images
from parhelion.record.image import RAN, read_image
from parhelion.machine.networks import told
from parhelion.cli.main import root

EVIL = '<script>alert("x")</script>|`'
LATE = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int MPI_Alltoall(const void* from, int n, MPI_Datatype a, void* to, int m, MPI_Datatype b, MPI_Comm comm) {
    const char* rank = getenv("PMI_RANK");
    if (getenv("LATE") || (rank && rank[0] == '1')) usleep(300);
    return PMPI_Alltoall(from, n, a, to, m, b, comm);
}
"""


def parhelion(*words):
    """Run the command in this process."""
    result = CliRunner().invoke(root, [str(word) for word in words], prog_name="parhelion")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def compared(a, b, folder):
    """Exit status and document of a comparison, whose pages lie in `folder`."""
    result = parhelion("compare", a, b, "--html", folder / "p.html", "--markdown", folder / "p.md", "--json", folder / "p.json")
    assert result.exit_code in (0, 1), result.output
    return result, json.loads((folder / "p.json").read_text())


class Page(HTMLParser):
    """Tags that are open at the end, and what was found on the way."""

    def __init__(self, text):
        super().__init__()
        self.open, self.scripts, self.links = [], 0, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.scripts += tag == "script"
        self.links += [value for name, value in attributes if name in ("src", "href") and not value.startswith(("#", "data:"))]
        if tag not in ("meta", "link", "br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A pair of images of which the other is 1.5 times as slow, under another MPI, with a nasty name."""
    folder = tmp_path_factory.mktemp("two")
    return image(folder / "a"), image(folder / "b", scale=1.5, seed=2, mpi=OPEN_MPI, build="openmpi", name=EVIL)


def test_the_page_is_whole_self_contained_and_escapes_what_was_recorded(two, tmp_path):
    result, document = compared(*two, tmp_path)
    text = (tmp_path / "p.html").read_text()
    page = Page(text)
    assert (page.open, page.links, page.scripts) == ([], [], 1) and EVIL not in text
    for heading in ("Likely causes", "What changed", "profiles side by side", "All differences", "All figures"):
        assert heading in text
    assert text.index("another MPI: MPICH 5.0.2 → Open MPI v5.0.11") < text.index("Likely causes"), "the first cause is in the first lines"
    assert "<script>" not in (tmp_path / "p.md").read_text()
    assert document["causes"][0]["title"] in result.output


def test_a_slower_image_gives_status_1_and_its_figures_are_ranked(two, tmp_path):
    result, document = compared(*two, tmp_path)
    assert result.exit_code == 1
    ratios = [each["ratio"] for each in document["changed"]]
    assert len(ratios) == 12 and ratios == sorted(ratios, reverse=True) and document["changed"][0]["verdict"] == "slower"
    assert "12 are slower and 0 faster" in (tmp_path / "p.md").read_text()
    assert parhelion("compare", *two, "--fail-on", "never", "--html", tmp_path / "q.html", "--markdown", tmp_path / "q.md").exit_code == 0


@pytest.mark.parametrize("damage", ["nothing", "no json", "another schema", "no record"])
def test_a_folder_that_is_no_image_is_refused(tmp_path, damage):
    good, bad = image(tmp_path / "good"), tmp_path / "bad"
    if damage == "nothing":
        bad.mkdir()
    else:
        image(bad)
        texts = {"no json": "{", "another schema": (bad / "image.json").read_text().replace("image/1", "image/9")}
        (bad / "image.json").write_text(texts.get(damage, (bad / "image.json").read_text()))
    if damage == "no record":
        shutil.rmtree(bad / "halo")
    result = parhelion("compare", good, bad)
    assert result.exit_code == 2 and "Error:" in result.output


def test_channels_are_read_from_what_each_mpi_says():
    lines = """[1795.94] [vm:1:0]      ucp_worker.c:1912 UCX  INFO    ucp_context_0 intra-node cfg#1 tag(sysv/memory cma/memory)  rma(posix/memory)
==== UCX netmod Capability ====
provider: tcp;ofi_rxm, score = 4, pref = 0, FI_SOCKADDR_IN [16] 192.0.2.2
[0] MPI startup(): libfabric provider: shm
[vm:1] select: component ob1 selected
[vm:1] mca:base:select:(  mtl) Selected component [ofi]
[vm:1] mca: bml: Using sm btl for send to [[19144,1],0] on node vm
another line""".splitlines()
    assert told(lines) == {"UCX intra-node": "sysv/memory cma/memory", "channel of MPICH": "UCX", "libfabric's provider": "shm, tcp;ofi_rxm",
                           "Open MPI's pml": "ob1", "Open MPI's mtl": "ofi", "Open MPI's channels": "sm"}


@pytest.fixture(scope="module")
def measure(tmp_path_factory):
    """Measures a short image with these variables set, under the MPICH wheel."""
    if not built("mpich"):
        pytest.skip("skipped: no build for mpich")
    folder = tmp_path_factory.mktemp("measured")
    cells = write_dataset(folder / "cells-2", 2)

    def take(name, **variables):
        with pytest.MonkeyPatch.context() as patch:
            for key, value in variables.items():
                patch.setenv(key, str(value))
            result = parhelion("bench", "image", name, "--out", folder / name, "--build", "mpich", "--ranks", 2, "--quick", "--launches", 1,
                               "--dataset", cells, "--label", "network=local")
        assert result.exit_code == 0, result.output
        return folder / name

    return take


@pytest.fixture(scope="module")
def plain(measure):
    return measure("plain")


def named(first, second, profiles=None):
    """The causes of what differs, ranked. Whether a figure changed is left open: on a busy machine so short a measurement cannot say."""
    return causes(ImageComparison((first, second), {}, profiles or {}, []))


@pytest.mark.timeout(400)
def test_an_image_is_measured_as_a_whole(plain):
    found = read_image(plain)
    assert set(found.records) == {"alltoall", "halo", "gather"}, found.image.parts
    assert all(record.labels == {"image": "plain", "network": "local"} for record in found.records.values())
    libraries = found.records["halo"].launches[0].libraries
    assert set(libraries) <= set(found.image.files) and all(re.fullmatch("[0-9a-f]{16}", each.sha256) for each in found.image.files.values())
    assert found.records["alltoall"].launches[0].cold_alltoall and found.image.providers and found.image.environment["cpu"]
    assert set(found.profiles) == {"alltoall", "halo"} and all(len(each.ranks) == 2 for each in found.profiles.values())
    if perf_works():
        assert found.image.parts["profile of halo"] == RAN and found.profiles["halo"].samples > 100


@pytest.mark.timeout(400)
def test_a_control_variable_of_a_real_image_is_named_first(plain, measure, tmp_path):
    first = named(read_image(plain), read_image(measure("tcp", UCX_TLS="tcp,self")))[0]
    assert first.title == "control variable UCX_TLS: not set → tcp,self"
    assert any("UCX intra-node" in why for why in first.why)


@pytest.mark.timeout(400)
def test_a_rank_that_sleeps_in_a_loaded_library_is_named_first(plain, measure, tmp_path):
    compiler = find_build("mpich").mpi_home / "bin" / "mpicc"
    if not compiler.exists() or not shutil.which("cc"):
        pytest.skip("no mpicc beside the embedded MPI, or no C compiler")
    (tmp_path / "late.c").write_text(LATE)
    subprocess.run([compiler, "-shared", "-fPIC", tmp_path / "late.c", "-o", tmp_path / "liblate.so"], check=True)
    found = compare_images(read_image(plain), read_image(measure("late", LD_PRELOAD=tmp_path / "liblate.so")))
    assert named(*found.images, found.profiles)[0].title == "rank 1 sleeps in B, which alone has preloaded liblate.so"


@pytest.mark.timeout(400)
def test_without_perf_the_sleep_of_ranks_is_told_all_the_same(measure, tmp_path, monkeypatch):
    monkeypatch.setattr("parhelion.measure.profile.shutil.which", lambda name: None)
    found = read_image(measure("watched"))
    assert "perf is not installed" in found.image.parts["profile of halo"]
    assert all(rank.wall_s > 0 and rank.libraries for rank in found.profiles["halo"].ranks)


def test_a_folder_that_is_taken_is_left_alone(tmp_path):
    (tmp_path / "kept").touch()
    result = parhelion("bench", "image", "x", "--out", tmp_path, "--build", "mpich")
    assert result.exit_code == 2 and "is not empty" in result.output
