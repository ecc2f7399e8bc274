# SPDX-License-Identifier: Apache-2.0
"""Starts the simulator for a test, in folders of its own."""
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading

from simulator_client import Page, Program, act, enter, http_request

TIMEOUT = 60


class Simulator:
    """A running simulator. Its folders stay until `remove`, so that it can be started again."""

    def __init__(self, *arguments):
        self.program = os.environ["NFC_SIMULATOR"]
        self.folder = tempfile.TemporaryDirectory(prefix="nfc-simulator-")
        self.place = pathlib.Path(self.folder.name)
        self.place.chmod(0o700)
        (self.place / "run").mkdir(mode=0o700)
        self.environment = os.environ | {"XDG_RUNTIME_DIR": str(self.place / "run"), "HOME": self.folder.name,
                                         "XDG_DATA_HOME": str(self.place / "data"), "XDG_DATA_DIRS": str(self.place / "none")}
        self.environment.pop("DISPLAY", None)
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.start(*arguments)

    def start(self, *arguments, browser=False):
        command = [self.program, "--json", *([] if browser else ["--no-browser"]), *arguments]
        self.process = subprocess.Popen(command, env=self.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.errors = []
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()
        line = self.process.stdout.readline()
        assert line, self.errors
        ready = json.loads(line)
        assert ready["event"] == "ready", ready
        self.url, self.port, self.socket = ready["url"], ready["port"], ready["socket"]
        self.host = self.url.split("/")[2]
        self.cookie = enter(self.url)

    def address(self):
        """Another address of the page, which works once."""
        return self.local("address")["url"]

    def local(self, do, **action):
        """Does an action at the socket in the private folder."""
        return act(os.path.dirname(self.socket), do, **action)

    def page(self, **options):
        return Page(self.host, self.cookie, **options)

    def connect(self, **options):
        return Program(self.socket, **options)

    def http(self, path, method="GET", body=None, headers=None, known=True):
        return http_request(self.host, path, method, body, ({"Cookie": self.cookie} if known else {}) | (headers or {}))

    def raw(self):
        """A connection to the port of the page, for any bytes."""
        return socket.create_connection(("127.0.0.1", self.port), 30)

    def do(self, name, **action):
        """Does an action over HTTP."""
        status, _, body = self.http("/do", "POST", json.dumps({"do": name, **action}).encode())
        answer = json.loads(body)
        assert status == 200, answer
        return answer

    def command(self, *arguments):
        return subprocess.run([self.program, *arguments], env=self.environment, capture_output=True, text=True, timeout=TIMEOUT)

    def processor_time(self):
        """The time that the process has used so far, in seconds."""
        fields = (pathlib.Path("/proc") / str(self.process.pid) / "stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(TIMEOUT)
        self.process.stdout.close()

    def remove(self):
        self.end()
        self.folder.cleanup()
