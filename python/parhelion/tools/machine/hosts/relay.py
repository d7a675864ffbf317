"""Cables that take their time: a process that takes packets out of one host and puts them into the others later.

The kernel's own means of delay (netem) is missing on many machines.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import struct
import subprocess
import threading
import time
from collections import deque
from pathlib import Path

TUN = "/dev/net/tun"
SET_INTERFACE, WHOLE_FRAMES = 0x400454CA, 0x0002 | 0x1000  # TUNSETIFF; IFF_TAP | IFF_NO_PI
NETWORK_NAMESPACE = 0x40000000  # CLONE_NEWNET
LARGEST_PACKET = 65000  # few large packets: each costs the relay microseconds


def start_relay(names: list[str], latency: float) -> None:
    """Gives each host an interface `cableN`; what one sends reaches the others `latency` seconds later. Ends with this process."""
    ends = [_interface(name, number) for number, name in enumerate(names, start=1)]
    for number, name in enumerate(names, start=1):
        subprocess.run(["ip", "-n", name, "link", "set", f"cable{number}", "mtu", str(LARGEST_PACKET)], check=True)
    threading.Thread(target=_relay, args=(ends, latency), daemon=True).start()


def _interface(host: str, number: int) -> int:
    """The descriptor behind a new interface of the host: its namespace is entered in a thread of its own, for a moment."""
    made: list[int | OSError] = []

    def make() -> None:
        try:
            _enter(host)
            end = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(end, SET_INTERFACE, struct.pack("16sH22x", f"cable{number}".encode(), WHOLE_FRAMES))
            made.append(end)
        except OSError as error:
            made.append(error)

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    if isinstance(made[0], OSError):
        raise made[0]
    return made[0]


def _enter(host: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/run/netns", host).open() as namespace:
        if libc.setns(namespace.fileno(), NETWORK_NAMESPACE) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the network of {host}")


def _relay(ends: list[int], latency: float) -> None:
    waiting: deque[tuple[float, int, bytes]] = deque()  # when, from where, what: in the order of arrival
    while True:
        rest = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for end in select.select(ends, [], [], rest)[0]:
            packet = os.read(end, LARGEST_PACKET + 100)
            waiting.append((time.monotonic() + latency, end, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, origin, packet = waiting.popleft()
            for end in ends:
                if end != origin:
                    _put(end, packet)


def _put(end: int, packet: bytes) -> None:
    try:
        os.write(end, packet)
    except OSError:
        pass  # the interface is down, or its queue is full: packets get lost, as on any network
