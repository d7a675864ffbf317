"""Create the simulated hosts as root of new namespaces, and run the command on the first.

`python -m parhelion.machine.hosts_inside FOLDER COUNT COMMAND…`; no effect outside the namespaces.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from ..launch.cores import usable_cores

SUBNET = "10.77.0"
ROUTER = f"{SUBNET}.254"
LONGEST_WAIT = 5  # seconds
AGENT = Path(__file__).with_name("agent.sh")


def main() -> int:
    folder, count, command = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    names = [f"phl{number}" for number in range(1, count + 1)]
    _name_hosts(folder, names)
    for name in names:
        _run("ip", "netns", "add", name)
    _route(names)
    _wait_for_cables(names)
    agent = _write_agent(folder)
    _share_cpus(folder, names)
    env = os.environ | {
        "PARHELION_HOSTS": ",".join(names),
        "PARHELION_REMOTE_SHELL": str(agent),
        "PARHELION_SUBNET": f"{SUBNET}.0/24",
        "PARHELION_HOSTS_FOLDER": str(folder),
        "PARHELION_HOSTS_CORES": str(usable_cores()),
    }
    # Ctrl-C reaches this process and the command: the command cleans up, this process waits.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    return subprocess.run([str(agent), names[0], shlex.join(command)], env=env).returncode


def _run(*words: str) -> None:
    subprocess.run(words, check=True)


def _name_hosts(folder: Path, names: list[str]) -> None:
    _run("mount", "-t", "tmpfs", "none", "/run")
    Path("/run/netns").mkdir()
    lines = ["127.0.0.1 localhost", *(f"{SUBNET}.{number} {name}" for number, name in enumerate(names, start=1))]
    table = folder / "hosts"
    table.write_text("\n".join(lines) + "\n")
    _run("mount", "--bind", str(table), "/etc/hosts")


def _route(names: list[str]) -> None:
    """Route all hosts through this program's network namespace."""
    for number, name in enumerate(names, start=1):
        port, cable = f"port{number}", f"cable{number}"
        _run("ip", "link", "add", "name", port, "type", "veth", "peer", "name", cable, "netns", name)
        _run("ip", "addr", "add", f"{ROUTER}/32", "dev", port)
        _run("ip", "link", "set", port, "up")
        _run("ip", "route", "add", f"{SUBNET}.{number}/32", "dev", port)
        _run("ip", "-n", name, "addr", "add", f"{SUBNET}.{number}/24", "dev", cable, "noprefixroute")
        for link in ("lo", cable):
            _run("ip", "-n", name, "link", "set", link, "up")
        _run("ip", "-n", name, "route", "add", ROUTER, "dev", cable)
        _run("ip", "-n", name, "route", "add", f"{SUBNET}.0/24", "via", ROUTER)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def _wait_for_cables(names: list[str]) -> None:
    """Wait until the kernel reports the links up (about 10 ms); UCX ignores interfaces that are down."""
    for number, name in enumerate(names, start=1):
        words, ends = ["ip", "-n", name, "-brief", "link", "show", f"cable{number}"], time.monotonic() + LONGEST_WAIT
        while subprocess.check_output(words, text=True).split()[1] == "DOWN" and time.monotonic() < ends:
            time.sleep(0.01)


def _share_cpus(folder: Path, names: list[str]) -> None:
    """Assign disjoint processors to the hosts; with too few processors, one each in turn."""
    cpus = sorted(os.sched_getaffinity(0))
    for number, name in enumerate(names):
        mine = cpus[number % len(cpus) :: len(names)]
        (folder / f"{name}.cpus").write_text(",".join(map(str, mine)))


def _write_agent(folder: Path) -> Path:
    """Copy the agent: its source may be in an archive or not executable."""
    agent = folder / "agent"
    agent.write_text(AGENT.read_text())
    agent.chmod(0o755)
    return agent


if __name__ == "__main__":
    sys.exit(main())
