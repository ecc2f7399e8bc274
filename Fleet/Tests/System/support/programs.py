# SPDX-License-Identifier: Apache-2.0
"""Programs that a test starts, and ends when it is over."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[4]
FLEET = ROOT / "Fleet"


def built(name):
    return os.path.join(os.environ["FLEET_PROGRAMS"], name)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition, seconds=20, pause=0.05):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {seconds} s")
        time.sleep(pause)


def make_folder(case):
    """A folder that is removed after the test. Its path is short, for sockets in it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ofl-", dir="/tmp"))
    case.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Program:
    """A program with its output in a file."""

    def __init__(self, case, arguments, log, environment=None, namespace=None):
        self.arguments = ["ip", "netns", "exec", namespace, *arguments] if namespace else arguments
        self.log, self.environment = pathlib.Path(log), {**os.environ, **(environment or {})}
        self.process = None
        case.addCleanup(self._show, case)
        case.addCleanup(self.kill)
        self.start()

    def start(self):
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(
                [str(argument) for argument in self.arguments], stdin=subprocess.PIPE, stdout=output, stderr=output,
                env=self.environment,
            )

    def _show(self, case):
        """Shows what the program has said, when the test has failed."""
        result = case._outcome.result
        if any(test is case for test, _ in result.failures + result.errors):
            print(f"--- {pathlib.Path(self.log).name}:\n{self.text[-3000:]}", flush=True)

    @property
    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def lines(self):
        """The JSON objects that were printed."""
        found = []
        for line in self.text.splitlines():
            with contextlib.suppress(ValueError):
                value = json.loads(line)
                if isinstance(value, dict):
                    found.append(value)
        return found

    def wait_for_line(self, text, seconds=20):
        def condition():
            if text in self.text:
                return True
            if self.process.poll() is not None:
                raise AssertionError(f"{self.arguments[0]} has ended with {self.process.returncode}: {self.text[-2000:]}")
            return False
        return wait_for(f"{text!r} in the output of {self.arguments[0]}", condition, seconds)

    def begin(self):
        """Tells a program that waits for a line to begin."""
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def kill(self):
        """kill -9."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.ended(5)

    def stop(self, seconds=20):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.ended(seconds)

    def ended(self, seconds):
        status = self.process.wait(seconds)
        if self.process.stdin:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        return status
