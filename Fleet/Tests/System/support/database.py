# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of a test's own, on a socket in a temporary folder."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile

import psycopg

from support.programs import FLEET, Program, wait_for


def _user():
    """Who runs PostgreSQL, which refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise AssertionError("There is neither a user postgres nor a user nobody.")


def _as_user(arguments):
    user = _user()
    if user is None:
        return arguments
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *arguments]


def make_cluster():
    """Makes an empty cluster, which each database is a copy of."""
    folder = tempfile.mkdtemp(prefix="ofl-pg-", dir="/tmp")
    user = _user()
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    subprocess.run(_as_user(["initdb", "--auth=trust", "--username=fleet", "--encoding=UTF8", "--no-locale", "--no-sync",
                             "-D", f"{folder}/data"]), check=True, stdout=subprocess.DEVNULL, cwd=folder)
    return folder


class Database:
    """A server with the consumer's tables. It can be killed and started again."""

    def __init__(self, case):
        cluster = os.environ.get("FLEET_CLUSTER")
        if not cluster:
            cluster = make_cluster()
            case.addCleanup(shutil.rmtree, cluster, ignore_errors=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ofl-pg-", dir="/tmp"))
        case.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        user = _user()
        if user is not None:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        subprocess.run(["cp", "-a", f"{cluster}/data", self.folder], check=True)
        self.address = f"host={self.folder} user=fleet dbname=postgres"
        self.program = Program(case, _as_user([
            "postgres", "-D", f"{self.folder}/data", "-k", self.folder, "-c", "listen_addresses=", "-c", "shared_buffers=32MB",
            "-c", "max_connections=20",
        ]), self.folder / "log")
        case.addCleanup(self._stop)
        self._connection = None
        self.wait()
        self.run((FLEET / "Consumer" / "schema.sql").read_text())

    def wait(self):
        def answers():
            try:
                psycopg.connect(self.address, connect_timeout=2).close()
                return True
            except psycopg.OperationalError:
                return False
        wait_for("PostgreSQL", answers, 30)

    def connect(self):
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self.address, autocommit=True)
        return self._connection

    def run(self, text, *values):
        """Runs statements; returns the rows."""
        cursor = self.connect().execute(text, values or None)
        return cursor.fetchall() if cursor.description else []

    def value(self, text, *values):
        return self.run(text, *values)[0][0]

    def kill(self):
        """Kills the server and its helpers, so that it has to recover."""
        self.close()
        self.program.kill()

    def start(self):
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        # The helpers of a server that was killed end a moment later, and it does not start beside them.
        def starts():
            if self.program.process.poll() is not None:
                (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
                self.program.start()
            try:
                psycopg.connect(self.address, connect_timeout=2).close()
                return True
            except psycopg.OperationalError:
                return False
        wait_for("PostgreSQL", starts, 30, 0.3)

    def _stop(self):
        """Ends at once, but so that the server removes what it shares in memory."""
        self.close()
        if self.program.process.poll() is None:
            self.program.process.send_signal(signal.SIGQUIT)
            self.program.ended(20)

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None
