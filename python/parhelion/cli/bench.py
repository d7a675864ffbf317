"""`parhelion bench` and `parhelion demo`: build a `Measurement` from options, run, analyze and show it."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ..errors import InputError, need
from ..launch import find_build
from ..launch.jobs import rank_of_launcher
from ..measure import measurement
from ..measure.measurement import (
    Group, LAUNCHES, MIN_SAMPLE_S, Measurement, QUICK_LAUNCHES, QUICK_MIN_SAMPLE_S, QUICK_REPETITIONS, REPETITIONS, TIMEOUT_S, usual_ranks,
)
from ..record.folder import DEFAULT_STORE, parse_labels
from ..record.model import RecordError
from ..record.read import Record
from ..show.terminal import Output
from .options import (
    MOST_COMPONENTS, MOST_EXTENT, MOST_FIELDS, MOST_HALO, MOST_LAUNCHES, MOST_RANKS, MOST_REPETITIONS, Names, Numbers, PanelCommand,
    Periodic, RANKS, Real, SECONDS, SEED, Share, Sizes, Whole, build_option, json_option, labels_option, launcher_option, no_bind_option,
    options_of, out_option,
)

MATRIX_TIMEOUT_S = 60.0
ELEMENT_NAMES = Names(tuple(measurement.ELEMENT_BYTES), "element type")
WORK, COMB, SAMPLES, BUILDS, OUTPUT = map(options_of, ("Work between begin and end", "As in Comb", "Variants and samples", "Builds and ranks", "Output"))

per_node_option = SAMPLES("--per-node", is_flag=True, help="Count messages and bytes by level of the machine: cache, socket, node, other nodes.")
ranks_option = click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
extent_option = click.option("--extent", type=Numbers(high=MOST_EXTENT, most=4), default="64", show_default=True, help="Cells per rank, along each dimension.")
components_option = click.option("--components", type=Numbers(high=MOST_COMPONENTS), default="1", show_default=True, help="Components per cell.")
quick_option = SAMPLES("--quick", is_flag=True, help="A short run: fewer launches and samples.")
SHARED = (
    SAMPLES("--variants", type=Names(), default=(), help="Only these variants [all]."),
    SAMPLES("--repetitions", type=Whole(1, MOST_REPETITIONS), help="Samples per variant, case and launch [30; quick: 10]."),
    SAMPLES("--precision", type=Share(), metavar="SHARE", help="Sample until the half-width of the median's 95 % confidence interval is below "
            "this share of the median, such as 5%."),
    SAMPLES("--most-repetitions", type=Whole(1, MOST_REPETITIONS), default=1000, show_default=True, help="Upper limit of samples with --precision."),
    SAMPLES("--launches", type=Whole(1, MOST_LAUNCHES), help="Launches [3; quick: 1]."),
    quick_option,
    SAMPLES("--seed", type=SEED, default=1, show_default=True, help="Random seed: sets the order of cases."),
    build_option,
    launcher_option,
    BUILDS("--against", metavar="BUILD|CHECKOUT|IMAGE", help="Interleaved A/B: measure another build and this one, launch by launch, "
           "and compare this one (B) with it (A): a build, a folder with a built checkout, or an image of Apptainer."),
    BUILDS("--live", is_flag=True, help="With --against, on one host: launch both at once; they alternate on each core, sample by sample."),
    no_bind_option,
    BUILDS("--timeout", type=SECONDS, metavar="SECONDS", help="Stop ranks after this time: without a finished case [300; matrix: 60]."),
    out_option,
    labels_option,
    json_option,
)


def element_option(usual: str) -> Callable[..., Any]:
    return click.option("--element", type=ELEMENT_NAMES, default=usual, show_default=True, help="Element type.")


def libraries_option(known: Iterable[str], usual: str) -> Callable[..., Any]:
    """`--libraries` of a benchmark: None if not given, () for none."""
    return SAMPLES("--libraries", type=Names((*known, "none"), "library"), metavar="NAMES",
                   callback=lambda context, option, given: given and tuple(name for name in given if name != "none"),
                   help=f"Also measure other libraries: {', '.join(known)}, or none, as `make libraries` builds them [{usual}].")


def shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every measurement to `command`, which gets them as one dictionary in front of its own options."""

    @wraps(command)
    def packed(**given: Any) -> Any:
        return command({name: given.pop(name) for name in shared}, **given)

    for option in reversed(SHARED):
        packed = option(packed)
    shared = [param.name for param in packed.__click_params__ if param.expose_value]  # type: ignore[attr-defined]
    return packed


class CommonFirst(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=CommonFirst)
@click.option("--builds", "builds", type=Names(), default=(), help="Builds, or all [one; with --networks all].")
@click.option("--networks", type=Names(), default=(), help="Networks: default, shm, ofi, ofi-noshm, ucx, ucx-noshm, tcp, or all [default; with --builds all].")
@click.pass_context
def bench(context: click.Context, **sides: Any) -> None:
    """Run a benchmark. Every value is verified, every sample is stored; a crash loses no finished case.

    \b
    parhelion bench halo
    parhelion bench --builds mpich,openmpi --networks ucx,ofi halo --halo 1
    parhelion bench --networks all alltoall --quick --ranks 2 --size 1,1K,64K

    Options after the benchmark's name are its own. With --builds or --networks it runs under each combination, interleaved,
    into one run and one report; a combination that cannot run here is a row with its reason.
    """
    context.obj = sides


@bench.command(cls=PanelCommand, short_help="Halo exchange of a structured grid beside hand-written MPI.")
@ranks_option
@click.option("--grid", "--divide", type=Numbers(high=MOST_RANKS, most=4), metavar="PxQxR", help="Process grid [as cubic as possible].")
@extent_option
@click.option("--cells", type=Numbers(high=MOST_EXTENT * MOST_RANKS, most=4), metavar="PxQxR", help="Global cells: instead of --extent.")
@click.option("--halo", "--ghost", type=Numbers(high=MOST_HALO), default="1,2,4,5", show_default=True, help="Halo width in cells.")
@click.option("--fields", "--vars", type=Numbers(high=MOST_FIELDS), default="1,2,4,8", show_default=True, help="Number of fields.")
@element_option("float32")
@components_option
@click.option("--neighbors", type=click.Choice(["full", "faces"]), default="full", show_default=True,
              help="Neighbors across edges and corners too, or faces only.")
@click.option("--order", type=click.Choice(["F", "C"]), default="F", show_default=True, help="Order in memory.")
@click.option("--periodic", type=Periodic(), default="yes", show_default=True, metavar="yes|no|yes,no,…", help="Whether opposite ends are neighbors.")
@click.option("--seam", type=click.Choice(["fold", "fold-center"]),
              help="Also measure each case with a fold (about corners or centers of cells) at both ends of the second dimension, instead of periodic ends.")
@click.option("--memory", type=click.Choice(["host", "device"]), default="host", show_default=True, help="Memory of the arrays; device: a GPU.")
@WORK("--overlap", type=Real(0, 1e6, min_open=True), metavar="WORK",
      help="Microseconds of work between begin and end of each exchange; the work is not timed.")
@WORK("--uneven", type=Real(0, 0.95), default=0, metavar="SHARE",
      help="With --overlap: the first rank works less by this fraction, the last one more, linearly in between.")
@COMB("--case", type=click.Choice(["comb"]), help="The case of LLNL's Comb: one float64 field with halo 1, not periodic, each phase of an exchange timed.")
@COMB("--cycles", type=Whole(1, MOST_REPETITIONS), help="Comb's name for --repetitions, like --divide, --ghost and --vars.")
@libraries_option(measurement.PLUG_INS["halo"], "none")
@per_node_option
@shared_options
@click.pass_context
def halo(context: click.Context, options: dict[str, Any], libraries: tuple[str, ...] | None, per_node: bool, case: str | None, cycles: int | None, **grid: Any) -> None:
    """Halo exchange of a structured grid beside hand-written MPI, every ghost verified.

    The default is the published case: 64³ cells of float32 per rank, full halo, 16 cells of halo width × fields.
    """
    def is_given(name: str) -> bool:
        return context.get_parameter_source(name) is not ParameterSource.DEFAULT

    if grid["cells"] and is_given("extent"):
        raise InputError("--cells is the size of the whole grid, --extent that of a rank's block: give one of them")
    if cycles and options["repetitions"]:
        raise InputError("--cycles is Comb's name for --repetitions: give one of them")
    options["repetitions"] = cycles or options["repetitions"]
    if case == "comb":
        grid |= {name: value for name, value in {"halo": (1,), "fields": (1,), "element": ("float64",), "periodic": False}.items() if not is_given(name)}
    _measure("halo", [measurement.halo(**grid, phases=case is not None)], options, libraries or (), per_node=per_node)


@bench.command(cls=PanelCommand, short_help="Row arrays with ghosts from Python, beside the published method.")
@ranks_option
@click.option("--grid", type=Numbers(high=MOST_RANKS, most=3), metavar="PxQxR", help="Process grid [as cubic as possible].")
@click.option("--extent", type=Whole(1, 1024), default=32, show_default=True, help="Cells per rank, along each dimension.")
@click.option("--vdim", type=Numbers(high=MOST_COMPONENTS), default="6,20,120", show_default=True, help="Numbers per row.")
@element_option("float64")
@click.option("--pattern", type=click.Choice(["faces", "all-from-one"]), default="faces", show_default=True,
              help="Rows of the six neighbors, or all of rank 0's, as in the published script.")
@per_node_option
@shared_options
def ghosts(options: dict[str, Any], per_node: bool, **rows: Any) -> None:
    """Row arrays with ghosts, driven from Python on every rank, beside the published method and mpi4py by hand.

    Every rank has a block of 32³ rows and pulls those beyond its six faces: of 6,144 requested rows, each one that another
    rank owns is sent once. Every value is verified.
    """
    _measure("ghosts", [measurement.ghosts(variants=options["variants"], **rows)], options, per_node=per_node)


COARRAY = "coarray"
GATHERED = (*measurement.PLUG_INS["gather"], COARRAY)


@bench.command(cls=PanelCommand, short_help="Index-map gather on partitioned meshes beside hand-written MPI.")
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DATASET...")
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [number of parts of each data set].")
@element_option("int32")
@components_option
@libraries_option(GATHERED, "those built; with --variants: none")
@per_node_option
@shared_options
def gather(options: dict[str, Any], datasets: tuple[Path, ...], libraries: tuple[str, ...] | None, per_node: bool, **how: Any) -> None:
    """Index-map gather on partitioned meshes beside hand-written MPI, every ghost verified.

    DATASET is a folder with one file per rank, `data001` …, as `parhelion partition` writes it. Each set is run on
    the number of ranks that it was partitioned for.
    """
    from ..measure.coarrays import Coarrays, builds_here

    groups = measurement.gather(datasets, **how)
    build, against = find_build(options["build"], measuring=True), options["against"]
    sides = {f"--{side}": names for side, names in click.get_current_context().obj.items()}
    beside = [what for what, value in {"--against": against, **sides, "mpiexec or srun": rank_of_launcher()}.items() if value]
    if beside and COARRAY in (libraries or ()):
        raise InputError(f"--libraries coarray: its programs do not depend on the build; leave out {' and '.join(beside)}, or the coarrays")
    usual = () if options["variants"] else GATHERED
    wanted = [name for name in (usual if libraries is None else libraries) if name != COARRAY or not beside]
    builds = builds_here() if COARRAY in wanted else []
    missing = [name for name in wanted if not (builds if name == COARRAY else (build.directory / f"libphl_adapter_{name}.so").exists())]
    if missing:
        text = f"not built for {build.name}, see docs/measuring.md: {', '.join(missing)}"
        Output(options["json_file"]).errors.print(text, style="dim", soft_wrap=True)
    # Pass on missing libraries that the user named, so that the measuring program reports them.
    plug_ins = [name for name in wanted if name != COARRAY and (libraries or name not in missing)]
    _measure("gather", groups, options, plug_ins, per_node=per_node, coarrays=Coarrays(builds) if builds else None)


@bench.command(cls=PanelCommand, short_help="MPI_Alltoall over message sizes, beside other algorithms.")
@click.option("-n", "-np", "--ranks", type=Numbers(high=MOST_RANKS), help="Ranks [one per usable core, at least 2].")
@click.option("--size", type=Sizes(), default="1-4M", show_default=True,
              help="Bytes that each rank sends to each: a list, or a range of powers of two.")
@click.option("--first-size", type=Sizes(), help="Size of the first call after MPI_Init [the first of the sizes].")
@click.option("--single-calls", is_flag=True, help="A sample is one call, as in the published test [a batch of calls].")
@shared_options
def alltoall(
    options: dict[str, Any], ranks: tuple[int, ...] | None, size: tuple[int, ...], first_size: tuple[int, ...] | None, single_calls: bool
) -> None:
    """MPI_Alltoall over message sizes, every byte verified, beside other algorithms.

    The first call after MPI_Init, which makes MPI's connections, is reported separately. Ends with the published layout,
    mean(std) per image and network, and with the sizes at which the algorithm seems to change. Ten samples per size
    and launch, or as many as --precision needs. Name image, reservation and notes with --label.
    """
    first = first_size or size[:1]
    if len(first) != 1:
        raise InputError(f"--first-size has {len(first)} sizes: give one: a process connects only once")
    single: dict[str, Any] = {"min_sample_s": 0.0} if single_calls else {}
    _measure("alltoall", measurement.alltoall(ranks, size, first[0]), options, usual_repetitions=10, program_options=(f"--first-size={first[0]}",), **single)


@bench.command(cls=PanelCommand, short_help="Whole applications with hand-written exchange and with the library's.")
@click.option("--app", "--apps", "apps", type=Names(measurement.APPS, "application"), default=None, metavar="NAMES",
              help=f"Applications: {', '.join(measurement.APPS)} [all; Veros if it is installed].")
@ranks_option
@click.option("--extent", type=Numbers(high=512, most=3), default="32", show_default=True,
              help="Cells per rank, along each dimension: cells of hydrodynamics, rows of multigrid_cg, with a level for each halving, at most 4.")
@click.option("--mesh", type=Whole(4, measurement.MOST_MESH), default=128, show_default=True,
              help="Side length of the global mesh: in cells (shallow_water), squares of two triangles (finite_volume), or nodes (poisson); a power of two.")
@shared_options
def apps(options: dict[str, Any], apps: tuple[str, ...] | None, ranks: int | None, extent: tuple[int, ...], mesh: int) -> None:
    """Whole applications: time per step with hand-written exchange and with the library's, every bit of the state compared.

    multigrid_cg: conjugate gradients with a multigrid preconditioner on the 27-point stencil, over index maps. finite_volume: Euler's
    equations on an unstructured mesh. poisson: finite elements solved by conjugate gradients, also over vectors of PETSc and of DOLFINx
    (`make libraries`). shallow_water: a staggered C grid with swapped time levels, in Fortran. hydrodynamics: forces of three
    components summed at nodes that up to eight ranks hold. veros: a model of the ocean in Python (`make apps` installs it), whose own exchange is
    replaced from outside. Ends with the time of all exchanges of a step, and the lines of exchange code.
    """
    count = ranks or usual_ranks()
    why_not = measurement.reason_against_veros(count)
    if why_not and apps and "veros" in apps:
        raise InputError(f"--app veros: {why_not}")
    if why_not and not apps:
        Output(options["json_file"]).errors.print(f"veros is left out: {why_not}", style="dim", markup=False, soft_wrap=True)
    wanted = apps or tuple(name for name in measurement.APPS if name != "veros" or not why_not)
    _measure("apps", measurement.apps(wanted, count, extent, mesh, options["variants"]), options)


def _measure(benchmark: str, groups: list[Group], options: dict[str, Any], libraries: Sequence[str] = (), usual_repetitions: int = REPETITIONS, **special: Any) -> None:
    """Measure the groups, print the results, write the document, and exit with the status."""
    from ..analyze.document import bench_document, exit_status
    from ..measure.run import NAMES, become_rank, measure
    from ..show.results import summary

    sides = click.get_current_context().obj
    quick, beside = options["quick"], [name for library in libraries for name in measurement.PLUG_INS[benchmark][library]]
    what = Measurement(
        benchmark, groups, builds=sides["builds"], networks=sides["networks"], bind=not options["no_bind"],
        variants=(*(options["variants"] or ("all",)), *beside) if beside else options["variants"],
        repetitions=options["repetitions"] or (QUICK_REPETITIONS if quick else usual_repetitions),
        launches=options["launches"] or (QUICK_LAUNCHES if quick else LAUNCHES),
        timeout=options["timeout"] or (MATRIX_TIMEOUT_S if sides["builds"] or sides["networks"] else TIMEOUT_S), labels=parse_labels(options["labels"]),
        **{name: options[name] for name in ("precision", "most_repetitions", "seed", "build", "against", "live", "out")},
        **{"min_sample_s": QUICK_MIN_SAMPLE_S if quick else MIN_SAMPLE_S, **special},
    )
    unheard = {"--launches": options["launches"], "--label": what.labels, "--json": options["json_file"], "--timeout": options["timeout"]}
    become_rank(what, [name for name, value in unheard.items() if value])
    output = Output(options["json_file"])
    records = measure(what, output.errors)
    for letter, record in zip(NAMES, records):
        if what.against:
            output.console.print(f"{letter}: {record.labels['image']}", markup=False, soft_wrap=True)
        output.show(summary(record, output.fits))
    status = max(map(exit_status, records))
    if what.against:
        compared = _compare(records, status, output)
        raise SystemExit(status or compared)
    output.document(bench_document(records[0]))
    if what.combined:
        _report(records, records[0].path.parent, output)
    raise SystemExit(status)


def _compare(records: list[Record], status: int, output: Output) -> int:
    """Compare B with A like `parhelion compare` with default options; `--json` then writes the comparison."""
    first, second = (record.path.parent for record in records)
    output.console.print(f"parhelion compare {first} {second}", style="dim", markup=False, soft_wrap=True)
    try:
        context = click.get_current_context()
        compare = context.find_root().command.get_command(context, "compare")  # type: ignore[attr-defined]
        context.invoke(compare, a=first, b=second, json_file=output.json_file)
    except SystemExit as end:
        return int(end.code or 0)
    except RecordError as error:
        if not status:
            raise
        output.errors.print(str(error), markup=False, soft_wrap=True)  # the ranks failed before any comparison
    return 0


def _report(records: list[Record], folder: Path, output: Output) -> dict[str, str]:
    from ..show.report import write_report

    html, markdown = (folder / name for name in ("report.html", "report.md"))
    with output.errors.status("drawing the report"):
        write_report(records, html, markdown)
    output.console.print(f"report: {html.resolve()}", markup=False, soft_wrap=True)
    return {"html": str(html.resolve()), "markdown": str(markdown.resolve())}


@bench.command(cls=PanelCommand, short_help="A software image: these benchmarks, profiles, libraries.")
@click.argument("name")
@OUTPUT("--out", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="Folder for the output [images/NAME].")
@BUILDS("-n", "-np", "--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@build_option
@BUILDS("--launches", type=Whole(1, MOST_LAUNCHES), help="Launches [5; quick: 2].")
@quick_option
@click.option("--dataset", "datasets", type=click.Path(path_type=Path), multiple=True, metavar="DATASET",
              help="Index maps for the gather; may be repeated [those of a generated mesh].")
@click.option("--no-profile", is_flag=True, help="Do not profile.")
@no_bind_option
@BUILDS("--timeout", type=SECONDS, default=TIMEOUT_S, show_default=True, metavar="SECONDS", help="Stop ranks after this time: without a finished case.")
@labels_option
@json_option
def image(name: str, out: Path | None, ranks: int | None, launches: int | None, quick: bool, no_profile: bool, no_bind: bool,
          labels: tuple[str, ...], json_file: str | None, **how: Any) -> None:
    """Measure a software image and store it as NAME: alltoall with its first calls, halo, gather, profiles if perf is installed,
    environment, checksums of loaded libraries, and the channels that the MPI chose.

    \b
    parhelion bench image v0.4 --label network=OFI --label reservation=full
    parhelion compare images/v0.3 images/v0.4

    Parts that cannot be measured here are skipped with the reason. Exit status as of other benchmarks.
    """
    from ..measure.image import ImageRequest, take_image

    sides = click.get_current_context().obj
    if sides["builds"] or sides["networks"]:
        raise InputError("an image has one build and network: leave out --builds and --networks, or measure an image for each")
    plain = re.sub(r"[^\w.-]", "_", name).strip("._")
    if not plain:
        raise InputError(f"{name!r} is not usable as a folder's name: give the image a name with letters, or a folder with --out")
    output = Output(json_file)
    request = ImageRequest(name, out or Path("images") / plain, ranks or usual_ranks(), launches=launches or (2 if quick else 5), quick=quick,
                           profile=not no_profile, bind=not no_bind, labels=parse_labels(labels), **how)
    taken, status = take_image(request, output.errors)
    output.console.print(f"image: {request.folder}", markup=False, soft_wrap=True)
    output.document({"schema": taken.schema, "folder": str(request.folder), "image": name, "ranks": taken.ranks, "build": taken.build,
                     "labels": taken.labels, "parts": taken.parts, "providers": taken.providers})
    raise SystemExit(status)


DEMO_REPETITIONS = 4  # per launch; intervals need several launches
HALO_WIDTHS, FIELDS = (1, 2, 5), (1, 8)
GATHERS = (("int32", 1), ("float64", 8))
CELLS = 200_000


@click.command()
@ranks_option
@build_option
@click.option("--mesh-cells", "cells", type=Whole(5_000, 50_000_000), default=CELLS, show_default=True, help="Cells of the mesh.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="FOLDER", help="Folder for the output [here].")
@json_option
def demo(ranks: int | None, build: str | None, cells: int, out: Path, json_file: str | None) -> None:
    """Measure a halo exchange and a gather on a mesh on this machine, beside hand-written MPI.

    Ends with a table and with report.html.
    """
    from ..analyze.document import bench_document, exit_status
    from ..measure.run import measure
    from ..show.results import summary

    need("matplotlib", "netgen", "pymetis")
    from ..mesh.demo import demo_partition

    output = Output(json_file)
    count = ranks or usual_ranks()
    say = output.console.print
    short = Measurement("", [], repetitions=DEMO_REPETITIONS, launches=LAUNCHES, min_sample_s=QUICK_MIN_SAMPLE_S, build=build)

    def measured(benchmark: str, group: Group) -> Record:
        (record,) = measure(replace(short, benchmark=benchmark, groups=[group]), output.errors)
        output.show(summary(record, output.fits))
        say()
        return record

    say(f"Parhelion on {count} ranks: each of them owns a block and keeps copies (ghosts) of what its neighbors own.")
    say("Every variant fills the same ghosts; every value is verified before a time counts.\n")
    records = [measured("halo", measurement.halo(count, halo=HALO_WIDTHS, fields=FIELDS))]
    with output.errors.status("meshing a casting and partitioning it with METIS"):
        dataset = demo_partition(DEFAULT_STORE / "meshes", count, cells).resolve()
    records.append(measured("gather", Group(count, [{"dataset": str(dataset), "element": kind, "components": each} for kind, each in GATHERS])))
    files = _report(records, out, output)
    output.document({"schema": "parhelion.demo/1", "files": files, "runs": [bench_document(record) for record in records]})
    raise SystemExit(max(exit_status(record) for record in records))
