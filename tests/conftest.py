"""Which tests are long; a second run, over more builds: only tests that the first one did not have, left out or had to skip."""

from pathlib import Path
from xml.etree import ElementTree

from _pytest.junitxml import bin_xml_escape, mangle_test_address  # what writes that file: no one else knows its names

HERE = Path(__file__).resolve().parent

# A minute or more each: simulation, model checking, whole measurements, installations. `make test` leaves them to `make test-others`.
LONG = (
    "install/test_install_page", "install/test_pages", "install/test_wheel", "interfaces/python/test_interface_examples", "model/test_models",
    "python/cli/test_absurd_options", "python/images/test_image_commands", "python/launch/test_signals", "python/measure/test_against",
    "python/measure/test_apps", "python/measure/test_gather_libraries", "python/measure/test_matrix", "python/measure/test_profile",
    "python/measure/test_reframe", "python/measure/test_right_records", "python/place/test_simulate", "python/project/test_notebooks",
    "python/record/test_altered_records", "python/test_site",
)


def pytest_addoption(parser):
    parser.addoption("--except-passed", type=Path, metavar="JUNIT", help="Leave out what has passed there, but for tests of every build.")


def pytest_configure(config):
    config.addinivalue_line("markers", "every_build: goes through all builds by itself, so that another one makes it another test.")
    config.addinivalue_line("markers", "long: left to `make test-others`.")


def pytest_collection_modifyitems(config, items):
    files = {HERE / f"{each}.py" for each in LONG}
    for item in items:
        if item.path in files:
            item.add_marker("long")
    first = config.getoption("--except-passed")
    if first is None:
        return
    done = passed(first)
    again = [item for item in items if item.get_closest_marker("every_build") or key(item) not in done]
    config.hook.pytest_deselected(items=[item for item in items if item not in again])
    items[:] = again


def passed(junit):
    """(class, name) of the tests that neither failed nor were skipped, also not in parts."""
    cases = ElementTree.parse(junit).iter("testcase")
    return {(case.get("classname"), case.get("name")) for case in cases if not any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))}


def key(item):
    *classes, name = mangle_test_address(item.nodeid)
    return ".".join(classes), bin_xml_escape(name)


def pytest_report_header(config):
    first = config.getoption("--except-passed")
    return f"without what has passed in {first}" if first else None
