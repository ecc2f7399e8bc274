# SPDX-License-Identifier: Apache-2.0
"""dbus-broker at a socket, where systemd does not run: unshare -m python3 broker_bus.py SOCKET CONFIGURATION OTHER-ADDRESS

It wants a journal and a bus to systemd's manager. The journal is a socket that nobody reads, in a mount namespace of its own;
the bus at OTHER-ADDRESS stands for systemd's.
"""
import os
import socket
import subprocess
import sys


def main():
    path, configuration, other = sys.argv[1:]
    os.makedirs("/run/systemd", exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run/systemd"], check=True)
    os.mkdir("/run/systemd/journal")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    # The listener's number has to be 3, and it is made first.
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.bind("/run/systemd/journal/socket")
    os.set_inheritable(journal.fileno(), True)
    os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    variables = {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid()), "DBUS_SESSION_BUS_ADDRESS": other}
    os.execvpe(
        "dbus-broker-launch",
        ["dbus-broker-launch", "--scope", "user", "--config-file", configuration],
        os.environ | variables,
    )


main()
