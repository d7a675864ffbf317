"""Several hosts on one machine: network namespaces with own names, process numbers and shared memory, joined by cables.

Ranks on two of them cannot reach each other's memory and talk over TCP, as on a cluster. Nothing is left behind: all of it
lives in namespaces that end with the command. `parhelion run --on-hosts` is the command.
"""

from .sandbox import HostsError, reason_against, run_on_hosts

__all__ = ["HostsError", "reason_against", "run_on_hosts"]
