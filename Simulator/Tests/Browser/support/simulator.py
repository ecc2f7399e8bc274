# SPDX-License-Identifier: Apache-2.0
"""A simulator of a test's own: its program, its folders, and its other clients."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

folder = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(folder / "Tests" / "clients"))

import simulator_client  # noqa: E402

PROGRAM = os.environ.get("NFC_SIMULATOR", str(folder.parent / ".build" / "debug" / "nfc-simulator"))


class Simulator:
    """A running simulator with its drawer, on a free port."""

    def __init__(self, apps=()):
        self.apps = apps
        # The path of a socket has to be short.
        self.folder = tempfile.mkdtemp(prefix="nfc-sim-")
        self.port = 0
        self.clients = []
        self.start()

    def start(self, browser=None):
        """Starts the program: a second time on the port it had, with the tags it had."""
        command = [PROGRAM, "run", "--json", "--tags", self.folder + "/tags"]
        if self.port:
            command += ["--port", str(self.port)]
        for app in self.apps:
            command += ["--app", app]
        self.environment = environment = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_DATA_HOME=self.folder, XDG_DATA_DIRS=self.folder)
        if browser:
            environment.update(DISPLAY=":0", PATH=browser + ":" + os.environ["PATH"])
        else:
            command.append("--no-browser")
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{PROGRAM} ended before it was ready: {self.process.wait()}")
        ready = json.loads(line)
        self.port, self.socket, self.host = ready["port"], ready["socket"], ready["url"].split("/")[2]
        # A window besides the browser's: it does what the test prepares, and sees what the browser has done.
        self.api = self.keep(simulator_client.Page(self.host, simulator_client.enter(ready["url"])))

    @property
    def address(self):
        """An address of the page. Each one works once."""
        return self.local("address")["url"]

    def local(self, action, **values):
        """Does an action at the socket in the private folder, as the commands do."""
        return simulator_client.act(os.path.dirname(self.socket), action, **values)

    def start_with_browser(self):
        """Starts the program with an xdg-open that opens nothing, and returns the path that it is given."""
        folder = pathlib.Path(self.folder) / "bin"
        folder.mkdir()
        (folder / "xdg-open").write_text('#!/bin/sh\nprintf %s "$1" >"${0%/*}/path.new" && mv "${0%/*}/path.new" "${0%/*}/path"\n')
        (folder / "xdg-open").chmod(0o700)
        self.start(str(folder))
        until = time.monotonic() + 20
        while not (folder / "path").exists() and time.monotonic() < until:
            time.sleep(0.02)
        return (folder / "path").read_text()

    def keep(self, client):
        self.clients.append(client)
        return client

    def program(self, name="Reader", client="app"):
        """A program at the local socket."""
        return self.keep(simulator_client.Program(self.socket, name=name, client=client))

    def do(self, action, **values):
        return self.api.ask(action, **values)

    def named(self, name):
        """The tag with a name, as the other window knows it now."""
        self.do("products")
        return next((tag for tag in self.api.state["tags"] if tag["name"] == name), None)

    def until(self, condition):
        """Waits until the simulator's state, as it is now or becomes, fulfills a condition."""
        self.do("products")
        self.api.until(lambda page: condition(page.state))
        return self.api.state

    def kill(self):
        """Ends the program as a crash would."""
        self.close_clients()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def close_clients(self):
        for client in self.clients:
            client.close()
        self.clients = []

    def end(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
