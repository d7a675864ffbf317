"""`parhelion place` as a user calls it."""

import json

from click.testing import CliRunner

from parhelion.cli.main import root


def place(*arguments):
    return CliRunner().invoke(root, ["place", *map(str, arguments)])


def document(*arguments):
    result = place(*arguments, "--json", "-")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)
