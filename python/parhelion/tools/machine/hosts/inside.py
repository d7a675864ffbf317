"""Runs as root of fresh namespaces: makes the hosts, runs the command on the first, and ends.

`python -m parhelion.tools.machine.hosts.inside FOLDER COUNT LATENCY COMMAND…`, LATENCY in seconds; nothing here is visible outside.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from .relay import start_relay

SUBNET = "10.77.0"
AGENT = Path(__file__).with_name("agent.sh")


def main() -> int:
    """The command's exit status."""
    folder, count, latency, command = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
    names = [f"phl{number}" for number in range(1, count + 1)]
    _name_hosts(folder, names)
    for name in names:
        _run("ip", "netns", "add", name)
    if latency > 0:
        start_relay(names, latency)
    else:
        _cable(names)
    for number, name in enumerate(names, start=1):
        _connect(name, number)
    agent = _write_agent(folder)
    _share_cpus(folder, names)
    env = os.environ | {
        "PARHELION_HOSTS": ",".join(names),
        "PARHELION_REMOTE_SHELL": str(agent),
        "PARHELION_SUBNET": f"{SUBNET}.0/24",
        "PARHELION_HOSTS_FOLDER": str(folder),
    }
    # A terminal interrupts this process and the command alike: the command ends what it has started, and this one waits.
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


def _cable(names: list[str]) -> None:
    """Two hosts get one cable; more of them each a cable to a switch, which the kernel must have."""
    if len(names) == 2:
        _run("ip", "link", "add", "name", "cable1", "type", "veth", "peer", "name", "cable2")
    else:
        _switch(len(names))
    for number, name in enumerate(names, start=1):
        _run("ip", "link", "set", f"cable{number}", "netns", name)


def _switch(count: int) -> None:
    _run("ip", "link", "add", "name", "switch", "type", "bridge")
    _run("ip", "link", "set", "switch", "up")
    for number in range(1, count + 1):
        _run("ip", "link", "add", "name", f"cable{number}", "type", "veth", "peer", "name", f"port{number}")
        _run("ip", "link", "set", f"port{number}", "master", "switch", "up")


def _connect(name: str, number: int) -> None:
    cable = f"cable{number}"
    _run("ip", "-n", name, "addr", "add", f"{SUBNET}.{number}/24", "dev", cable)
    for link in ("lo", cable):
        _run("ip", "-n", name, "link", "set", link, "up")


def _share_cpus(folder: Path, names: list[str]) -> None:
    """Each host has processors of its own, as long as there are enough."""
    cpus = sorted(os.sched_getaffinity(0))
    for number, name in enumerate(names):
        mine = cpus[number :: len(names)] if len(cpus) >= len(names) else cpus
        (folder / f"{name}.cpus").write_text(",".join(map(str, mine)))


def _write_agent(folder: Path) -> Path:
    """The agent may come from an archive or a folder without execute rights: it runs from here."""
    agent = folder / "agent"
    agent.write_text(AGENT.read_text())
    agent.chmod(0o755)
    return agent


if __name__ == "__main__":
    sys.exit(main())
