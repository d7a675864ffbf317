"""Run a command on simulated hosts (network namespaces)."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence

from ..errors import InputError
from ..launch.process import ask, run_command

TOOLS = {"unshare": "util-linux", "ip": "iproute2", "mount": "util-linux", "hostname": "hostname", "taskset": "util-linux"}
# Users' PATH often lacks administrators' tools.
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
OWN_USER = ["--user", "--map-root-user"]
NAMESPACES = ["--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]


def run_on_hosts(count: int, command: Sequence[str]) -> int:
    """Run `command` on the first of `count` simulated hosts; return its exit status. Raises `InputError` if tools or namespaces are missing.

    The command sees PARHELION_HOSTS and PARHELION_REMOTE_SHELL; `launch` spreads ranks over all hosts.
    """
    prefix = _prefix()
    with tempfile.TemporaryDirectory(prefix="parhelion-hosts-") as folder:
        inside = [sys.executable, "-m", "parhelion.machine.hosts_inside", folder, str(count), *command]
        done = run_command([*prefix, *inside], os.environ | {"PATH": PATH}, foreground=True)
    assert done.returncode is not None  # no time limit was set
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _prefix() -> list[str]:
    """Return the unshare command: with a user namespace, or as real root if those are disabled."""
    missing = {tool: package for tool, package in TOOLS.items() if not shutil.which(tool, path=PATH)}
    if missing:
        raise InputError(f"{', '.join(missing)} not found (Debian: apt install {' '.join(dict.fromkeys(missing.values()))})")
    unshare = str(shutil.which("unshare", path=PATH))
    said = ""
    for user in (OWN_USER, []) if os.geteuid() == 0 else (OWN_USER,):
        tried = ask([unshare, *user, *NAMESPACES, "true"])
        if tried.returncode == 0:
            return [unshare, *user, *NAMESPACES]
        said = said or tried.stderr.strip()
    raise InputError(f"the kernel grants no namespaces ({said}): allow user namespaces (sysctl kernel.unprivileged_userns_clone=1 "
                     "or user.max_user_namespaces), or run as root outside a container")
