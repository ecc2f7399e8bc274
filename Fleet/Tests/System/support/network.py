# SPDX-License-Identifier: Apache-2.0
"""A link between two machines that can be cut: two network namespaces of this machine."""
import os
import subprocess

# Of the two namespaces alone. Nothing else is reached through it.
BROKER, NODES = "10.77.0.1", "10.77.0.2"


def ip(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True)


class LinkUnavailable(Exception):
    """Why there is no such link on this machine."""


class Link:
    """The link between the namespaces `near`, for nodes, and `far`, for the broker. It is removed at the end of the case."""

    def __init__(self, case):
        self.near, self.far = (f"ofl-{os.getpid()}-{side}" for side in ("nodes", "broker"))
        for name in (self.near, self.far):
            made = ip("netns", "add", name)
            if made.returncode != 0:
                raise LinkUnavailable(f"Network namespaces can't be made here: {made.stderr.strip()}")
            case.addCleanup(ip, "netns", "del", name)
        for name in (self.near, self.far):
            ip("-n", name, "link", "set", "lo", "up")
        made = ip("-n", self.near, "link", "add", "fleet", "type", "veth", "peer", "name", "fleet", "netns", self.far)
        if made.returncode != 0:
            raise LinkUnavailable(f"A link between namespaces can't be made here: {made.stderr.strip()}")
        for name, address in ((self.near, NODES), (self.far, BROKER)):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "fleet")
            ip("-n", name, "link", "set", "fleet", "up")

    def cut(self):
        ip("-n", self.near, "link", "set", "fleet", "down")

    def mend(self):
        ip("-n", self.near, "link", "set", "fleet", "up")
