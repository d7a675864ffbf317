"""Cables that take their time: a process that takes packets out of one host and puts them into others later.

The kernel's own means of delay and limits (netem, tbf) are missing on many machines.
"""

import ctypes
import fcntl
import heapq
import itertools
import math
import os
import select
import struct
import subprocess
import threading
import time
from pathlib import Path

TUN = "/dev/net/tun"
SET_INTERFACE, WHOLE_FRAMES = 0x400454CA, 0x0002 | 0x1000  # TUNSETIFF; IFF_TAP | IFF_NO_PI
NETWORK_NAMESPACE = 0x40000000  # CLONE_NEWNET
ADDRESS = bytes([2, 0, 0, 0, 0])  # how the hosts' hardware addresses begin; the host's number follows
LARGEST_PACKET = 65000  # few large packets: each costs the relay microseconds


class Cables:
    """When packets arrive. Each host has a cable to a switch, which takes `latency` seconds, and lets so many bytes through per second each way."""

    def __init__(self, hosts: int, latency: float, bandwidth: float = math.inf) -> None:
        self.latency, self.bandwidth = latency, bandwidth
        self.sent, self.received = [0.0] * hosts, [0.0] * hosts  # until when each host's cable is busy

    def arrival(self, origin: int, target: int, size: int, now: float) -> float:
        """Of a packet that leaves now. The switch passes its beginning on before its end is there."""
        takes = size / self.bandwidth
        self.sent[origin] = max(now, self.sent[origin]) + takes
        self.received[target] = max(self.sent[origin] + self.latency, self.received[target] + takes)
        return self.received[target]


def start_relay(names: list[str], cables: Cables) -> None:
    """Gives each host an interface `cableN`; what one sends reaches another when `cables` says. Ends with this process."""
    ends = [_interface(name, number) for number, name in enumerate(names, start=1)]
    for number, name in enumerate(names, start=1):
        address = (ADDRESS + bytes([number])).hex(":")
        words = ["ip", "-n", name, "link", "set", f"cable{number}", "mtu", str(LARGEST_PACKET), "address", address]
        subprocess.run(words, check=True)
    threading.Thread(target=_relay, args=(ends, cables), daemon=True).start()


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


def _relay(ends: list[int], cables: Cables) -> None:
    waiting: list[tuple[float, int, int, bytes]] = []  # when, in what order, to whom, what
    order = itertools.count()
    while True:
        rest = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for end in select.select(ends, [], [], rest)[0]:
            packet, origin = os.read(end, LARGEST_PACKET + 100), ends.index(end)
            for target in _targets(packet, origin, len(ends)):
                heapq.heappush(waiting, (cables.arrival(origin, target, len(packet), time.monotonic()), next(order), target, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, target, packet = heapq.heappop(waiting)
            _put(ends[target], packet)


def _targets(packet: bytes, origin: int, hosts: int) -> list[int]:
    """The host that the frame is addressed to; all others, where it is for everybody."""
    if packet.startswith(ADDRESS):
        return [packet[len(ADDRESS)] - 1]
    return [host for host in range(hosts) if host != origin]


def _put(end: int, packet: bytes) -> None:
    try:
        os.write(end, packet)
    except OSError:
        pass  # the interface is down, or its queue is full: packets get lost, as on any network
