# SPDX-License-Identifier: Apache-2.0
"""Runs tests of a program with planted bugs, each run by itself, up to the first failure."""
import contextlib
import dataclasses
import itertools
import os
import pathlib
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FAILED = re.compile(r"^✘ Test (?:case passing .*? to )?(\".*?\"|[^\s(]+\([^)]*\))")
STARTED = re.compile(r"^◇ Test (\".*?\"|[^\s(]+\([^)]*\)) started")
SUITE = re.compile(r"^(\w+)\.(?:(`[^`]*`|\w+)/)?")
PLACES = 4096


@dataclasses.dataclass
class Outcome:
    """What a run of tests came to: `status` is passed, failed, crashed, late or stopped."""
    status: str
    seconds: float
    # The tests that failed, by name; of a crash, what ended the program.
    failures: list


@dataclasses.dataclass
class Group:
    """Tests that run together: a suite, or all of a test target."""
    name: str
    pattern: str
    seconds: float = 0
    reached: frozenset = frozenset()
    # Tests that fail with no bug on, which are left out.
    left_out: list = dataclasses.field(default_factory=list)

    @property
    def target(self):
        return self.name.split(".")[0]


def pattern(text):
    """A pattern for names that begin with a text."""
    return "^" + re.sub(r"[\\^$.|?*+()\[\]{}/]", lambda match: "\\" + match[0], text)


def name_pattern(name):
    """A pattern for a test by the name that a failure is reported with, in quotes or with its parentheses."""
    return "/" + r"`?" + pattern(name.strip('"').split("(")[0] if not name.startswith('"') else name.strip('"'))[1:]


def groups(program, targets, by_suite):
    """The tests of some targets in groups. Tests of no suite are a group of their target."""
    said = subprocess.run([program, "--testing-library", "swift-testing", "--list-tests"], check=True, capture_output=True,
                          text=True, env=os.environ | {"NO_COLOR": "1"}).stdout
    found = {}
    for line in said.splitlines():
        match = SUITE.match(line)
        if match is None or match[1] not in targets:
            continue
        if not by_suite:
            found[match[1]] = Group(match[1], pattern(match[1] + "."))
        elif match[2]:
            name = f"{match[1]}.{match[2]}"
            found[name] = Group(name, pattern(name + "/"))
        else:
            found[match[1]] = Group(match[1], pattern(match[1] + ".") + r"(`[^`]*`|\w+)\(")
    return list(found.values())


class Places:
    """Folders of its own for each run at one time, so that tests of two runs do not meet."""

    def __init__(self, count):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="mutate-"))
        # Some tests run programs as another user, who has to get to them.
        self.root.chmod(0o755)
        self._free = list(range(count))
        self._runs = itertools.count()
        self._condition = threading.Condition()

    @contextlib.contextmanager
    def one(self):
        with self._condition:
            while not self._free:
                self._condition.wait()
            number, run_number = self._free.pop(), next(self._runs)
        # What ends late may still write to its folders, so that each run has new ones.
        home, scratch, run = (self.root / name for name in (f"{number}h", f"{run_number}t", f"{run_number}r"))
        try:
            home.mkdir(exist_ok=True)
            for folder in (scratch, run):
                folder.mkdir()
            run.chmod(0o700)
            yield {"HOME": str(home), "TMPDIR": str(scratch), "XDG_RUNTIME_DIR": str(run)}
        finally:
            for folder in (scratch, run):
                shutil.rmtree(folder, ignore_errors=True)
            with self._condition:
                self._free.append(number)
                self._condition.notify()

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


def _end(process, mark):
    """Ends a run with the programs it started, which have its mark in their environment."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    wanted = b"MUTATE_RUN=" + mark.encode() + b"\0"
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if wanted in file.read():
                        os.kill(int(entry), signal.SIGKILL)
    process.wait()


class Runner:
    def __init__(self, program, places, stop, root):
        self.program, self.places, self.stop, self.root = str(program), places, stop, root
        self._lock, self._count = threading.Lock(), 0

    def run(self, patterns, numbers=(), limit=None, skipped=(), to_the_end=False, reached=None):
        """Runs the tests that match one of the patterns with some mutants on.

        It stops at the first failure unless `to_the_end`; `limit` is in seconds; `reached` is a file of `PLACES` bytes, in
        which the byte of each place that was come to is set.
        """
        with self._lock:
            self._count += 1
            mark = f"{os.getpid()}-{self._count}"
        command = [self.program, "--testing-library", "swift-testing"]
        for pattern in patterns:
            command += ["--filter", pattern]
        for pattern in skipped:
            command += ["--skip", pattern]
        with self.places.one() as folders:
            environment = os.environ | folders | {"MUTATE_RUN": mark, "MUTATE_ON": ",".join(map(str, numbers)), "NO_COLOR": "1"}
            environment.pop("MUTATE_REACHED", None)
            if reached:
                environment["MUTATE_REACHED"] = str(reached)
            begin = time.monotonic()
            process = subprocess.Popen(command, cwd=self.root, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                status, failures = self._watch(process, begin, limit, to_the_end)
            finally:
                _end(process, mark)
                process.stdout.close()
            return Outcome(status, time.monotonic() - begin, failures)

    def _watch(self, process, begin, limit, to_the_end):
        failures, last, rest = [], None, b""
        os.set_blocking(process.stdout.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                ended = process.poll() is not None
                data = b""
                if selector.select(0 if ended else 0.2):
                    data = os.read(process.stdout.fileno(), 1 << 16)
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    text = COLOUR.sub("", line.decode(errors="replace"))
                    started = STARTED.match(text)
                    if started:
                        last = started[1]
                    failed = FAILED.match(text)
                    if failed:
                        if failed[1] not in failures:
                            failures.append(failed[1])
                        if not to_the_end:
                            return "failed", failures
                if self.stop.is_set():
                    return "stopped", failures
                if ended and not data:
                    break
                if not data and not ended and limit and time.monotonic() - begin > limit:
                    return "late", failures + [f"over {limit:.0f} s"]
        if process.returncode < 0:
            name = signal.Signals(-process.returncode).name
            return "crashed", failures + [f"{name}, after the start of {last}"]
        if process.returncode:
            return "failed", failures or [f"exit status {process.returncode}"]
        return "passed", failures
