"""The report: complete, self-contained, and safe with whatever a record holds."""

import json
import re
import shutil
import subprocess
import time
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
import synthetic

from parhelion.show import Drawing, plots
from parhelion.show.report import against_hand, headline, places, write_report
from parhelion.analyze.results import results
from parhelion.analyze.results import in_order, wording
from parhelion.analyze.document import published_form
from parhelion.record.model import RecordError
from parhelion.record.read import read_record
from parhelion.record.model import Launch
from parhelion.analyze.statistics import Interval
from parhelion.analyze.statistics import Method
from parhelion.analyze.words import ranges

VOID = {"meta", "link", "br", "wbr", "img", "hr"}
EVIL = '<script>alert("x")</script>'
ONE = synthetic.halo_cases((1,), (1,))  # each case is two drawings


class Page(HTMLParser):
    """Collects ids, references, tags and text, and notices tags that do not close."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.references, self.tags, self.text, self.open = [], [], [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href") and not value.startswith("#"):
                self.references.append(value)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data


def written(tmp_path, *runs):
    """Page and Markdown of a report on runs."""
    html, markdown = tmp_path / "out" / "report.html", tmp_path / "out" / "report.md"
    write_report([read_record(run) for run in runs], html, markdown)
    return html.read_text(), markdown.read_text()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("report")
    halo = synthetic.write_record(tmp_path / "halo", environment={"cpu": {"model": "Some CPU"}, "empty": None})
    sets = [{"dataset": f"/sets/mesh-{ranks}", "element": element} for ranks in (2, 4) for element in ("int32", "float64")]
    gather = synthetic.write_record(tmp_path / "gather", benchmark="gather", cases=sets)
    return written(tmp_path, halo, gather)


def test_the_page_asks_for_nothing_outside_itself(report):
    html, _ = report
    assert "http:" not in html and "https:" not in html and "@import" not in html and "url(//" not in html
    assert Page(html).references == ["data:,"]


def test_the_page_is_well_formed_and_ids_are_unique(report):
    page = Page(report[0])
    assert not page.open
    assert len(page.ids) == len(set(page.ids))


def test_references_inside_plots_lead_somewhere(report):
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', report[0]))
    assert used <= set(Page(report[0]).ids)


def test_plots_take_their_colors_from_the_page(report):
    html, _ = report
    assert "prefers-color-scheme: dark" in html
    plots = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert plots
    for plot in plots:
        assert "var(--own)" in plot and not re.search(r"#[0-9a-f]{6}", plot)


def test_the_page_says_everything_that_it_should(report):
    text = Page(report[0]).text
    for words in ("Halo exchange", "Index-map gather", "as fast as the best hand-written baseline", "geometric mean",
                  "Method", "Verification", "Set-up", "Environment", "Some CPU", "Synthetic MPI 1.0",
                  "mesh-4", "hand_datatypes", "halo 2, fields 4", "Choice of auto", "mean(std)"):
        assert words in text, words
    assert "empty" not in text


def test_the_method_that_is_told_is_the_one_that_was_used(tmp_path):
    page, _ = written(tmp_path, synthetic.write_record(tmp_path / "run", launches=4, cases=ONE))
    told = " ".join(Page(page).text.split())
    assert f"Their 95 % intervals come from {Method.LAUNCHES}." in told and f"from {Method.RATIOS}{Method.CHOSEN}." in told


def test_a_report_of_one_launch_says_that_it_has_no_intervals(tmp_path):
    page, _ = written(tmp_path, synthetic.write_record(tmp_path / "run", launches=1, cases=ONE))
    told = " ".join(Page(page).text.split())
    assert "With one launch there are no intervals" in told and "no interval: one launch" in told and "intervals come from" not in told
    assert "launches or samples are too few for an interval" in told and not re.search(r"\(\d+\.\d\d–\d+\.\d\d\)", told)


def test_runs_of_one_benchmark_have_titles_of_their_own(tmp_path):
    runs = [synthetic.write_record(tmp_path / name, cases=ONE, run=name) for name in ("first", "second")]
    other = synthetic.write_record(tmp_path / "third", 1, "gather", cases=[{"dataset": "/sets/mesh-2", "element": "int32"}])
    page, markdown = written(tmp_path, *runs, other)
    for title in ("Halo exchange: first", "Halo exchange: second", "Index-map gather"):
        assert page.count(f"<h2>{title}</h2>") == 1 and markdown.count(f"## {title}\n") == 1


def test_the_first_figure_is_a_picture_of_its_own(tmp_path):
    run = read_record(synthetic.write_record(tmp_path / "run", cases=ONE))
    write_report([run], None, None, figure=tmp_path / "speed.svg")
    picture = (tmp_path / "speed.svg").read_text()
    root = ElementTree.fromstring(picture)
    used = set(re.findall(r"var\((--\w+)\)", picture))
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and "by hand" in "".join(root.itertext())
    assert {"--own", "--baseline"} <= used <= set(re.findall(r"(--\w+):", picture))


def test_a_figure_of_nothing_is_refused(tmp_path):
    run = read_record(synthetic.write_record(tmp_path / "run", cases=ONE, variants=["hand_packed"]))
    with pytest.raises(RecordError, match="nothing to draw"):
        write_report([run], None, None, figure=tmp_path / "speed.svg")
    assert not (tmp_path / "speed.svg").exists()


def test_markdown_tables_have_as_many_cells_in_every_row(report):
    tables = re.findall(r"(?:^\|.*\n)+", report[1], re.MULTILINE)
    assert len(tables) > 10
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_what_a_record_holds_is_escaped(tmp_path):
    run = synthetic.write_record(tmp_path / "run", environment={EVIL: EVIL}, cases=[{"halo": 1, "neighbors": EVIL}], variants=[EVIL], run=EVIL)
    labels = {"type": "labels", "labels": {EVIL: EVIL}}
    end = {"type": "end", "launch": 2, "status": EVIL, "message": EVIL + "$\\alpha$ | `x`"}
    with (run / "record.jsonl").open("a") as file:
        file.write(json.dumps(labels) + "\n" + json.dumps(end) + "\n")
    html, markdown = written(tmp_path, run)
    assert Page(html).tags.count("script") == 1 and EVIL not in html
    assert EVIL in Page(html).text
    assert "<script" not in markdown


@pytest.mark.parametrize("name", ["a_$x$_b", "_underscore", "$", "ünïcode 漢", ""])
def test_strange_names_of_variants_are_drawn_as_they_are(tmp_path, name):
    html, _ = written(tmp_path, synthetic.write_record(tmp_path / "run", launches=1, cases=ONE, variants=[name, "hand_packed"]))
    assert name in Page(html).text


def test_a_run_without_any_case_has_a_page_that_says_so(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "record.jsonl").write_text(json.dumps(synthetic.run_line()) + "\n")
    html, markdown = written(tmp_path, run)
    assert "No case was finished" in Page(html).text
    assert "0 samples" in markdown


def test_failed_and_skipped_variants_are_named_with_their_reason(tmp_path):
    run = synthetic.write_record(tmp_path / "run", launches=1, cases=ONE)
    lines = [json.loads(line) for line in (run / "record.jsonl").read_text().splitlines()]
    for line in lines:
        if line.get("variant") == "mpi":
            line.update(verified=False, samples=[], samples_by_rank=[], error="3 elements were wrong")
        if line.get("variant") == "mpi_neighbor":
            line.update(verified=False, samples=[], samples_by_rank=[], skipped="this MPI has none")
    (run / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    html, markdown = written(tmp_path, run)
    for text in (Page(html).text, markdown):
        assert "3 elements were wrong" in text and "this MPI has none" in text
    assert "FAILED" in markdown and "failed (wrong values, or none)" in " ".join(Page(html).text.split())


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_samples_give_a_page_too(tmp_path, count):
    html, _ = written(tmp_path, synthetic.write_record(tmp_path / "run", launches=1, repetitions=count, cases=ONE))
    assert "too few" in Page(html).text


@pytest.mark.timeout(120)
def test_a_hundred_thousand_samples_make_a_small_page(tmp_path):
    run = synthetic.write_record(tmp_path / "run", launches=2, repetitions=25_000, cases=ONE,
                                 variants=("auto", "hand_packed"))
    start = time.monotonic()
    html, _ = written(tmp_path, run)
    print(f"{time.monotonic() - start:.1f} s, {len(html):,} bytes")
    assert "100000 samples" in " ".join(Page(html).text.split())
    assert len(html) < 500_000


@pytest.mark.parametrize(
    ("benchmark", "words"), [("halo", ["Betzy", "160", "ghex_comm_xpmem_ucx", "mpicart"]), ("gather", ["coarray", "nagfor"]),
     ("alltoall", ["0.90(3)", "1664.03"]), ("ghosts", ["ArrayTrans", "vdim 120"])]
)
def test_published_figures_stand_beside_ones_own_when_asked_for(tmp_path, benchmark, words):
    record = read_record(synthetic.write_record(tmp_path / "run", launches=1, benchmark=benchmark, cases=ONE))
    for asked in (False, True):
        write_report([record], tmp_path / "report.html", tmp_path / "report.md", with_published=asked)
        for text in (Page((tmp_path / "report.html").read_text()).text, (tmp_path / "report.md").read_text()):
            assert all(word in text for word in words) == asked
    tables = re.findall(r"(?:^\|.*\n)+", (tmp_path / "report.md").read_text(), re.MULTILINE)
    assert all(len({row.count("|") for row in table.splitlines()}) == 1 for table in tables)


def curves_of(tmp_path, cases, **how):
    record = read_record(synthetic.write_record(tmp_path / "run", launches=2, benchmark="alltoall", cases=cases, **how))
    return drawn(record)


def drawn(record):
    """The drawings of curves, and what is said below them."""
    return {each.title: each.blocks for each in plots.curves(in_order(results(record.cases)), "x")}


def test_times_over_message_size_are_drawn_once_per_combination_of_the_rest(tmp_path):
    sizes = [{"size": size, "element": element} for size in (0, 1, 8, 4 * 2**20) for element in ("int32", "float64")]
    found = curves_of(tmp_path, sizes, variants=("auto", "hand_packed"))["Message size"]
    assert [each.caption for each in found] == ["element float64", "element int32"]
    for each in found:
        assert ">auto<" in each.svg and ">hand_packed<" in each.svg and ">4 Mi<" in each.svg


def test_scaling_is_drawn_over_the_number_of_ranks(tmp_path):
    lines = [synthetic.run_line()]
    for launch, ranks in enumerate((2, 4, 8)):
        lines += synthetic.launch_lines(synthetic.job(ranks=ranks, launch=launch, cases=synthetic.halo_cases((1,), (1, 4))))
    (tmp_path / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [each.caption for each in drawn(read_record(tmp_path))["Scaling"]] == ["fields 1", "fields 4"]


def test_many_combinations_are_left_out_with_their_number(tmp_path):
    cases = [{"size": size, "seed": seed} for size in (1, 2, 4) for seed in range(15)]
    *found, said = curves_of(tmp_path, cases, variants=("auto",), repetitions=3)["Message size"]
    assert len(found) == 12 and said.text.startswith("3 more such plots are left out")


def test_figures_stand_in_the_form_in_which_others_were_published(tmp_path):
    record = read_record(synthetic.write_record(tmp_path / "halo", launches=1, variants=("auto",)))
    form = published_form("halo", in_order(results(record.cases)))
    median = next(case for case in results(record.cases) if case.params["halo"] == case.params["fields"] == 1).entries["auto"].median
    assert form.head == ["halo", "fields", "auto"] and form.rows[0] == ["1", "1", f"{median * 1e4:.4g}"]
    beside = [{"halo": 1, "fields": 1, "mpi": "mpich", "network": network} for network in ("ofi", "ucx")]
    record = read_record(synthetic.write_record(tmp_path / "networks", launches=1, cases=beside, variants=("auto",)))
    form = published_form("halo", in_order(results(record.cases)))
    assert form.head == ["halo", "fields", "network", "auto"] and [row[:3] for row in form.rows] == [["1", "1", "ofi"], ["1", "1", "ucx"]]
    one = {"launches": 1, "benchmark": "gather", "cases": [{"dataset": "/meshes/B0", "element": "int32", "components": 1}], "variants": ("auto",)}
    sets = [read_record(synthetic.write_record(tmp_path / f"{ranks}", ranks=ranks, **one)).cases for ranks in (12, 24)]
    form = published_form("gather", in_order(results([line for each in sets for line in each])))
    assert form.head[:2] == ["dataset", "ranks"] and [row[:2] for row in form.rows] == [["B0", "12"], ["B0", "24"]]
    ghosts = [{"vdim": 6, "element": "float64", "pattern": "faces", "rows_claimed": 60, "rows_moved": 50, "rows_moved_total": 100}]
    record = read_record(synthetic.write_record(tmp_path / "ghosts", launches=1, benchmark="ghosts", cases=ghosts, variants=("own",)))
    (row,) = published_form("ghosts", results(record.cases)).rows
    time = results(record.cases)[0].entries["own"].median
    assert row[:8] == ["2", "6", "float64", "faces", "60", "–", "50", "own"] and row[8].endswith(f"[{time * 1e3:.3g}ms]")
    assert float(row[10]) == pytest.approx(100 * 6 * 8 / time, rel=1e-4)
    assert "In the published form" in Page(written(tmp_path, tmp_path / "ghosts")[0]).text


def test_two_sizes_make_no_curve(tmp_path):
    assert curves_of(tmp_path, [{"size": size} for size in (1, 2)]) == {}


def test_places_of_ranks_are_shown_and_shared_cores_are_told():
    launches = [Launch(0, 4, hosts=["a", "a", "b", "b"], binding=[[0, 1], [2, 3], [0], [0]], bound_by="launcher"),
                Launch(1, 4, hosts=["a", "a", "b", "b"], binding=[[0, 1], [2, 3], [0], [0]], bound_by="launcher"), Launch(2, 4)]
    (found,) = places(launches)
    assert found.title == "Launches 1, 2: bound by launcher"
    assert found.rows == [("a", "rank 0: 0–1; rank 1: 2–3"), ("b", "rank 2: 0 (shared); rank 3: 0 (shared)")]
    assert ranges([0, 1, 2, 5, 7, 8]) == "0–2, 5, 7–8"


def test_a_report_that_cannot_be_written_is_named(tmp_path):
    record = read_record(synthetic.write_record(tmp_path / "run", launches=1, cases=ONE))
    with pytest.raises(RecordError, match="cannot write /dev/null/report.html"):
        write_report([record], synthetic.Path("/dev/null/report.html"), None)


MANY = (*synthetic.OWN, *synthetic.BASELINES, *synthetic.FLOORS, *synthetic.LIBRARIES, *(f"hand_neighbor_alltoallv_init_{n}" for n in range(9)))


@pytest.fixture(scope="module")
def wide_page(tmp_path_factory):
    """A page with more variants than fit beside each other, and published tables."""
    tmp_path = tmp_path_factory.mktemp("wide")
    run = synthetic.write_record(tmp_path / "run", cases=synthetic.halo_cases((1, 2, 4, 5), (1, 2, 4, 8)), variants=MANY, repetitions=20)
    write_report([read_record(run)], tmp_path / "report.html", None, with_published=True)
    return (tmp_path / "report.html").read_text()


@pytest.fixture(scope="module")
def forms_page(tmp_path_factory):
    """A page with time of exchanges of applications, and with ghosts in the published form: tables with many columns that name a row."""
    tmp_path = tmp_path_factory.mktemp("forms")
    ghosts = [{"vdim": 6, "element": "float64", "pattern": "faces", "rows_claimed": 60, "rows_moved": 50, "rows_moved_total": 100}]
    apps = [{"app": app, "extent": [256] * 3} for app in ("multigrid_cg", "finite_volume")]
    runs = [synthetic.write_record(tmp_path / "ghosts", launches=1, benchmark="ghosts", cases=ghosts, variants=("auto", "hand_packed")),
            synthetic.write_record(tmp_path / "apps", launches=1, benchmark="apps", cases=apps, variants=("auto", "hand_isend", "hand_neighbor_alltoallv"))]
    record = runs[1] / "record.jsonl"
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    told = [line | {"exchange_s": [t / 10 for t in line["samples"]], "exchange_lines": 10} if line["type"] == "case" else line for line in lines]
    record.write_text("".join(json.dumps(line) + "\n" for line in told))
    write_report([read_record(run) for run in runs], tmp_path / "report.html", None)
    return (tmp_path / "report.html").read_text()


def test_the_page_opens_with_one_figure_and_then_the_verdicts(wide_page):
    found = [wide_page.index(part) for part in ("<figure", "auto is faster: 1.4", "<section", "<table")]
    assert found == sorted(found)
    opening = wide_page[found[0] : found[1]]
    assert all(name in opening for name in ("ours", "fastest by hand", "fastest other library", "floor: copying alone"))
    assert "4 more cases are in the table" in opening


def test_marks_stand_where_their_times_are(tmp_path):
    """Ours takes 1 / 1.4 of the time by hand, give or take the noise; the axis ends at 1.25, and the mark for 1 is at 1 / 1.25 of its length."""
    cases = in_order(results(read_record(synthetic.write_record(tmp_path / "run", variants=("auto", "hand_packed"), cases=ONE)).cases))
    (figure,) = plots.opening(cases, "x")
    assert isinstance(figure, Drawing)
    marks = {role: [float(place) for place in re.findall(rf'<use [^>]*x="([\d.]+)"[^>]*style="fill: var\(--{role}\)', figure.svg)] for role in ("own", "baseline")}
    level = [(float(first), float(last)) for first, last in re.findall(r'd="M ([\d.]+) [\d.]+\s+L ([\d.]+) [\d.]+\s*"', figure.svg)]
    left, right = max(level, key=lambda ends: ends[1] - ends[0])  # the axis
    own, hand = ((marks[role][0] - left) / (right - left) * 1.25 for role in ("own", "baseline"))
    assert hand == pytest.approx(1, rel=0.02) and own == pytest.approx(1 / 1.4, rel=0.04)


def test_a_difference_that_is_not_shown_is_not_claimed(tmp_path):
    cases = results(read_record(synthetic.write_record(tmp_path / "run", variants=("auto", "hand_packed"), scale=1.0)).cases)
    words = wording("halo")
    faster = headline(cases)
    assert "is faster" in against_hand(faster, words)
    assert "No difference is shown" in against_hand(replace(faster, interval=Interval(0.9, 1.1)), words)
    assert "is slower" in against_hand(replace(faster, interval=Interval(0.8, 0.9)), words)


def test_cases_without_one_by_hand_make_no_figure(tmp_path):
    html, _ = written(tmp_path, synthetic.write_record(tmp_path / "run", cases=ONE, variants=("auto",)))
    assert "hand-written MPI = 1" not in html and "timings, every value verified" in " ".join(Page(html).text.split())


@pytest.mark.parametrize("page", ["wide_page", "forms_page"])
def test_tables_come_folded(page, request):
    pieces = request.getfixturevalue(page).split("<table")
    for number in range(len(pieces) - 1):
        so_far = "<table".join(pieces[: number + 1])
        assert so_far.count("<details") > so_far.count("</details>")


# What a browser makes of a page in a window of some width: headless ones have no window below 500 pixels, a frame has.
FRAME = """<!doctype html><iframe id="frame" width="{width}" height="900" style="border: 0" srcdoc="{page}"></iframe><script>
addEventListener("load", () => {{ const page = frame.contentDocument, found = {{}};
{script}
document.title = JSON.stringify(found); }})</script>"""
OPEN = "page.querySelectorAll('details').forEach((each) => { each.open = true; });"
MEASURE = OPEN + """
found.wide = page.documentElement.scrollWidth - page.documentElement.clientWidth;
found.cut = [...page.querySelectorAll(".wide")].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.className);
found.small = Math.min(...[...page.querySelectorAll("td, th")].filter((each) => each.textContent.trim())
  .map((each) => parseFloat(getComputedStyle(each).fontSize)));"""
SORT = OPEN + """
const table = page.querySelector("table.sortable"), shown = () => [...table.tBodies[0].rows].filter((row) => !row.hidden);
const heads = [...table.tHead.rows[0].cells], last = heads.length - 1, speeds = () => shown().map((row) => parseFloat(row.cells[last].dataset.value));
heads[last].click(); found.up = speeds(); heads[last].click(); found.down = speeds(); found.said = heads[last].ariaSort;
const field = page.querySelector(".filter"); field.value = "hand_packed halo"; field.dispatchEvent(new Event("input")); found.none = shown().length;
field.value = "hand_packed baseline"; field.dispatchEvent(new Event("input")); found.kept = shown().map((row) => row.cells[2].textContent);"""


def browsed(tmp_path, page, width, script):
    """What a script finds on the page in a frame of that width."""
    (tmp_path / "frame.html").write_text(FRAME.format(width=width, page=escape(page), script=script))
    done = subprocess.run(["chromium", "--no-sandbox", "--headless", "--disable-gpu", "--window-size=1500,1000", "--dump-dom",
                           f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "frame.html").as_uri()],
                          capture_output=True, text=True, timeout=100)
    found = re.search(r"<title>(.*?)</title>", done.stdout)
    assert found, done.stderr
    return json.loads(unescape(found[1]))


needs_chromium = pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed (Debian: apt install chromium)")


@needs_chromium
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("page", "width"), [("wide_page", 400), ("wide_page", 1280), ("forms_page", 1280)])
def test_the_page_is_no_wider_than_the_window_and_no_column_is_cut_off(tmp_path, request, page, width):
    found = browsed(tmp_path, request.getfixturevalue(page), width, MEASURE)
    assert found["wide"] <= 0 and found["small"] >= 11
    assert width < 1280 or not found["cut"]


@needs_chromium
@pytest.mark.timeout(120)
def test_a_column_that_is_cut_off_would_be_found(tmp_path, wide_page):
    assert "wide" in browsed(tmp_path, wide_page.replace("white-space: nowrap", "white-space: nowrap; min-width: 20rem"), 1280, MEASURE)["cut"]


@needs_chromium
@pytest.mark.timeout(120)
def test_tables_in_other_forms_have_all_columns_and_sort_by_each(tmp_path, forms_page):
    script = OPEN + """
    for (const table of page.querySelectorAll("table.sortable")) {
      const heads = [...table.tHead.rows[0].cells], words = (head) => [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex].textContent);
      found[heads.at(-1).textContent] = heads.map((head) => { head.click(); const up = words(head); head.click(); return [up, words(head)]; });
    }"""
    tables = browsed(tmp_path, forms_page, 1280, script)
    assert len(tables["lines"]) == 11 and len(tables["claimed"]) == 12
    found = tables["lines"] + tables["claimed"]
    assert all(up == (sorted(up) if words else sorted(up, key=number)) for up, _ in found for words in [number(up[0]) is None])
    assert all([*map(number, down)] == [*map(number, up)][::-1] for up, down in found)


def number(text):
    found = re.match(r"[\d.]+(?:e[+-]\d+)?", text)
    return float(found[0]) if found else None


@needs_chromium
@pytest.mark.timeout(120)
def test_the_table_of_results_sorts_and_filters(tmp_path, wide_page):
    found = browsed(tmp_path, wide_page, 1280, SORT)
    assert found["up"] == sorted(found["up"]) and found["down"] == found["up"][::-1] and len(found["up"]) == 16 * len(MANY)
    assert found["said"] == "descending" and found["none"] == 0 and found["kept"] == ["hand_packed"] * 16
