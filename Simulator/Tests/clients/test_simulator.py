# SPDX-License-Identifier: Apache-2.0
"""Tests of the running simulator with clients that no code of the project helps."""
import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

from running_simulator import Simulator
from simulator_client import Failure, Page, act, enter


class Case(unittest.TestCase):
    def setUp(self):
        self.simulator = Simulator()
        self.addCleanup(self.simulator.remove)


class PageTests(Case):
    def test_two_windows_see_the_same(self):
        one, two = self.simulator.page(), self.simulator.page()
        tag = one.ask("new_tag", product="NTAG213", name="New", link="https://example.com")["tag"]
        one.ask("hold", tag=tag)
        one.ask("rename", tag=tag, name="Renamed")
        one.ask("switch", name="noise", value=0.25)
        done = lambda page: page.state["switches"]["noise"] == 0.25 and (page.tag(tag) or {}).get("name") == "Renamed"
        one.until(done)
        two.until(done)
        self.assertEqual(one.tag(tag), two.tag(tag))
        self.assertTrue(two.tag(tag)["near"])
        # A window that is opened now has the same state as those that followed it.
        self.assertEqual(self.simulator.page().state["tags"], two.state["tags"])

    def test_a_tag_is_on_the_page_after_it_was_deleted_and_brought_back(self):
        page = self.simulator.page()
        first = page.state["tags"][0]["id"]
        page.ask("delete", tag=first)
        page.until(lambda page: page.tag(first) is None)
        page.ask("undo_delete")
        page.until(lambda page: page.state["tags"][0]["id"] == first)

    def test_rows_of_the_trace_come_in_order(self):
        page = self.simulator.page()
        program = self.simulator.connect()
        page.ask("switch", name="instant", value=True)
        program.ask("claim")
        program.ask("carrier", on=True)
        for _ in range(1500):
            with self.assertRaises(Failure):
                program.frame("nfc-a", "26", bits=7, checksum="none")
        total = page.ask("trace_rows", **{"from": 0, "count": 1})["total"]
        page.until(lambda page: page.trace and page.trace[-1]["n"] >= total)
        numbers = [row["n"] for row in page.trace]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        rows = page.ask("trace_rows", **{"from": 100, "count": 3})
        self.assertEqual([row["n"] for row in rows["rows"]], [101, 102, 103])

    def test_what_is_refused_says_why(self):
        page = self.simulator.page()
        for action, code in [({"do": "tap"}, "invalid-request"), ({"do": "tap", "tag": "xyz"}, "no-such-tag"),
                             ({"do": "dance"}, "no-such-action"), ({"do": "tap", "tag": "empty-sticker", "ms": 0}, "invalid-request")]:
            with self.assertRaises(Failure) as caught:
                page.ask(**action)
            self.assertEqual(caught.exception.code, code)
            self.assertRegex(str(caught.exception), r"^[A-Z\"].*\.$")

    def test_messages_that_are_no_actions_are_answered(self):
        page = self.simulator.page()
        for text in [b"", b"{", b"[]", b"null", b"7", b"[" * 100_000, b'{"do":{"do":1}}', b'"' + b"x" * 100_000 + b'"']:
            page.send_text(text)
            while (message := page.message())["type"] != "failed":
                page.apply(message)
            self.assertIn("message", message)
        page.send_text(b"\xff\xfe", opcode=2)
        page.ask("list")

    def test_a_message_is_bounded_however_it_is_divided(self):
        for size, parts in [(1 << 20, 9), (9 << 20, 1)]:
            page = self.simulator.page()
            with self.assertRaises((ConnectionError, TimeoutError)):
                page.send_text(b"a", isLast=False)
                for _ in range(parts):
                    page.send_text(b"a" * size, opcode=0, isLast=False)
                page.send_text(b"", opcode=0)
                while True:
                    self.assertNotEqual(page.message()["type"], "failed")
            self.simulator.do("list")
        # One that is divided and short, with a ping in it, is a message.
        page = self.simulator.page()
        for part, opcode, isLast in [(b'{"do":"li', 1, False), (b"ping", 9, True), (b"", 0, False), (b'st","id":7}', 0, True)]:
            page.send_text(part, opcode, isLast)
        while (message := page.message()).get("id") != 7:
            page.apply(message)
        self.assertEqual(message["type"], "done")

    def test_megabytes_of_zeros_are_refused_within_20_seconds(self):
        values = b"[" + b"0," * (4 << 20)
        began = time.monotonic()
        self.assertEqual(json.loads(self.simulator.http("/do", "POST", values[: 1 << 19])[2])["error"], "bad-json")
        self.assertEqual(json.loads(self.simulator.http("/do", "POST", values[:(1 << 19) + 1])[2])["error"], "too-large")
        self.assertEqual(self.simulator.http("/import?name=a.json", "POST", values[: (8 << 20) - 9])[0], 400)
        page = self.simulator.page()
        page.send_text(values[: (8 << 20) - 99])
        while (message := page.message())["type"] != "failed":
            page.apply(message)
        self.assertEqual(message["error"], "bad-json")
        self.assertLess(time.monotonic() - began, 20)

    def test_a_tag_with_a_script_is_text_alone(self):
        page = self.simulator.page()
        evil = "<script>alert(1)</script>\u202e\u0000"
        tag = page.ask("new_tag", product="NTAG216", name=evil, text=evil)["tag"]
        self.assertRegex(tag, r"^[a-z0-9-]+$")
        self.assertEqual(page.ask("message", tag=tag)["records"][0]["text"], evil)
        status, headers, body = self.simulator.http(f"/export/tag/{tag}")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "application/octet-stream")
        self.assertIn("attachment", headers["Content-Disposition"])


class AddressTests(Case):
    def test_every_answer_has_the_headers_of_a_private_page(self):
        for path in ["/", "/main.js", "/elsewhere", "/socket", "/do"]:
            _, headers, _ = self.simulator.http(path, known=False)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(headers["Cross-Origin-Opener-Policy"], "same-origin")
            self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
            self.assertEqual(headers["Cache-Control"], "no-store")
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)

    def test_requests_without_the_cookie_are_refused(self):
        name, value = self.simulator.cookie.split("=")
        for path, method in [("/socket", "GET"), ("/export/save", "GET"), ("/import", "POST"), ("/do", "POST"), ("/%64o", "POST"),
                             ("//do", "POST"), ("/./do", "POST"), ("/export/tag/main.js", "GET")]:
            for cookie in ["", f"{name}=", f"{name}=wrong", f"{name}={value[:-1]}", f"{name}={value}x", f"other={value}"]:
                for more in [{}, {"X-Simulator-Access": "local"}, {"X-Simulator-Access": "page"}]:
                    status, _, _ = self.simulator.http(path, method, b"" if method == "POST" else None, {"Cookie": cookie} | more)
                    self.assertIn(status, (403,) if path in ("/socket", "/export/save", "/import", "/do") else (403, 404, 405), (path, cookie))
            # A browser sends cookies to all ports of a host, and says which site asks.
            for site in ["same-site", "cross-site"]:
                self.assertIn(self.simulator.http(path, method, headers={"Sec-Fetch-Site": site})[0], (403, 404, 405))

    def test_a_token_works_once(self):
        token = self.simulator.address().split("token=")[1]
        for given, headers, status in [("wrong", {}, 403), (token, {"Origin": "http://example.com"}, 403), (token, {"Sec-Fetch-Site": "same-site"}, 403),
                                       (token, {}, 204), (token, {}, 403), (self.simulator.url.split("token=")[1], {}, 403)]:
            answer, headers, _ = self.simulator.http("/enter", "POST", headers={"X-Token": given} | headers, known=False)
            self.assertEqual(answer, status)
            self.assertEqual("Set-Cookie" in headers, status == 204)
        self.assertIn("; HttpOnly; SameSite=Strict", self.simulator.http("/enter", "POST")[1]["Set-Cookie"])
        self.assertEqual(self.simulator.http("/enter", "POST", known=False)[0], 403)
        self.assertEqual(self.simulator.http("/enter")[0], 404)

    def test_a_page_starts_no_commands(self):
        page = self.simulator.page()
        proof = self.simulator.place / "started"
        for command in [f"touch {proof}", ["touch", str(proof)], None]:
            with self.assertRaises(Failure) as caught:
                page.ask("start_app", command=command, app="empty")
            self.assertEqual(caught.exception.code, "not-from-a-page")
            status, _, body = self.simulator.http("/do", "POST", json.dumps({"do": "start_app", "command": command}).encode())
            self.assertEqual((status, json.loads(body)["error"]), (400, "not-from-a-page"))
        for action in [{"do": "address"}, {"do": "start_app"}]:
            self.assertEqual(self.simulator.http("/do", "POST", json.dumps(action).encode(), {"X-Simulator-Access": "local"})[0], 400)
        self.assertFalse(proof.exists())
        started = self.simulator.command("start", f"touch {proof}", "--json")
        self.assertEqual(started.returncode, 0)
        page.until(lambda page: proof.exists() and not any(app["running"] for app in page.state["apps"]))
        proof.unlink()
        page.ask("start_app", app=json.loads(started.stdout)["app"])
        page.until(lambda page: proof.exists())

    def test_other_hosts_and_origins_are_refused(self):
        for headers in [{"Host": "example.com"}, {"Host": f"example.com:{self.simulator.port}"}, {"Origin": "http://example.com"},
                        {"Origin": "null"}, {"Origin": f"https://{self.simulator.host}"},
                        {"Host": f"localhost:{self.simulator.port}"}, {"Host": f"127.0.0.1:{self.simulator.port}"}]:
            status, _, _ = self.simulator.http("/", headers=headers)
            self.assertEqual(status, 403, headers)
        self.assertEqual(Page(self.simulator.host, self.simulator.cookie, origin="http://example.com").status, 403)
        self.assertEqual(Page(self.simulator.host, self.simulator.cookie, host="example.com").status, 403)
        own = f"http://{self.simulator.host}"
        self.assertEqual(Page(self.simulator.host, self.simulator.cookie, origin=own).status, 101)

    def test_paths_stay_in_the_page(self):
        self.assertEqual(self.simulator.http("/", known=False)[0], 200)
        for path in ["/../Package.swift", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/.git/config", "/a/../b",
                     "/main.js/", "/main.js%00.html", "/" + "a" * 5000, "/index.html/../index.html", "/%"]:
            status, _, body = self.simulator.http(path, known=False)
            self.assertIn(status, (403, 404), path)
            self.assertNotIn(b"root:", body)
        self.assertEqual(self.simulator.http("/export/../../etc/passwd")[0], 400)

    def test_a_saved_file_can_be_opened_again(self):
        status, _, body = self.simulator.http("/export/save")
        self.assertEqual(status, 200)
        self.assertEqual(len(json.loads(body)["tags"]), len(self.simulator.do("list")["tags"]))
        self.assertEqual(self.simulator.http("/import", "POST", body)[0], 200)

    def test_a_file_that_is_no_dump_is_refused(self):
        status, _, answer = self.simulator.http("/import?name=x.nfc", "POST", b"Filetype: Flipper")
        self.assertEqual(status, 400)
        self.assertIn("error", json.loads(answer))
        status, _, answer = self.simulator.http("/import?name=notes.eml", "POST", b"No dump.\n\n" * 32 + b"." * 704)
        self.assertEqual(status, 400)
        self.assertIn("hexadecimal digits", json.loads(answer)["message"])

    def test_trace_and_test_can_be_downloaded(self):
        self.assertEqual(self.simulator.http("/export/trace?format=pcapng")[2][:4], b"\x0a\x0d\x0d\x0a")
        self.assertIn(b"import NFCTestKit", self.simulator.http("/export/test")[2])

    def test_a_request_that_is_too_large_is_refused(self):
        with socket.create_connection(("127.0.0.1", self.simulator.port), 30) as connection:
            connection.sendall(f"POST /import HTTP/1.1\r\nHost: {self.simulator.host}\r\nCookie: {self.simulator.cookie}\r\n"
                               f"Content-Length: {9 << 20}\r\n\r\n".encode())
            self.assertIn(b" 400 ", connection.recv(1 << 16).split(b"\r\n")[0])

    def listed_within(self, seconds):
        began = time.monotonic()
        self.simulator.do("list")
        self.assertLess(time.monotonic() - began, seconds)

    def test_a_line_without_an_end_stops_nobody(self):
        for start in [b"GET /", b"GET / HTTP/1.1\r\nX: ", b""]:
            with self.simulator.raw() as connection:
                try:
                    connection.sendall(start + b"a" * (3 << 20))
                    answer = connection.recv(1 << 16)
                except OSError:
                    answer = b""
                self.listed_within(10)
                self.assertIn(answer.split(b"\r\n")[0], (b"", b"HTTP/1.1 431 Request Header Fields Too Large"))

    def test_a_body_that_is_refused_is_no_next_request(self):
        host = f"Host: {self.simulator.host}\r\n"
        for length in [3 << 20, 7 << 20]:
            for origin, path in [("Origin: http://example.com\r\n", "/do"), ("", "/do?x=y"), ("", "/elsewhere")]:
                with self.simulator.raw() as connection:
                    connection.sendall(f"POST {path} HTTP/1.1\r\n{host}{origin}Content-Length: {length}\r\n\r\n".encode())
                    try:
                        connection.sendall(b"a" * length)
                        answer = connection.makefile("rb").read()
                    except OSError:
                        answer = None
                    self.listed_within(10)
                    if answer is not None:
                        self.assertIn(answer.split()[1], (b"403", b"405"))
                        self.assertIn(b"\r\nConnection: close\r\n", answer)

    def test_a_refused_websocket_is_no_way_to_send_lines(self):
        with self.simulator.raw() as connection:
            connection.sendall(f"GET /socket HTTP/1.1\r\nHost: {self.simulator.host}\r\nUpgrade: websocket\r\n"
                               "Connection: Upgrade, keep-alive\r\nSec-WebSocket-Version: 13\r\n"
                               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode())
            self.assertIn(b" 403 ", connection.recv(1 << 16).split(b"\r\n")[0])
            try:
                connection.sendall(b"a" * (3 << 20))
            except OSError:
                pass
            self.listed_within(10)

    def test_a_head_that_could_be_read_in_two_ways_is_refused(self):
        host = f"Host: {self.simulator.host}"
        for head, status in [(f"GET / HTTP/1.1\r\n{host}", 200), (f"GET / HTTP/1.1\r\n{host}\r\nHost: example.com", 400),
                             (f"GET / HTTP/1.1\r\nHost: example.com\r\n{host}", 400),
                             (f"GET / HTTP/1.1\r\n{host}\r\nContent-Length: 0\r\nContent-Length: 0", 400),
                             (f"GET / HTTP/1.1\r\n{host}\rX: y", 400), (f"GET / HTTP/1.1\r\n{host}\r\nAccept: a\0b", 400),
                             (f"GET / HTTP/1.1\r\n{host}\r\nAccept : a", 400), (f"GET /\x7f HTTP/1.1\r\n{host}", 400),
                             (f"GET  / HTTP/1.1\r\n{host}", 400), (f"GET / HTTP/2\r\n{host}", 400)]:
            with self.subTest(head), self.simulator.raw() as connection:
                connection.sendall(head.encode() + b"\r\n\r\n")
                self.assertIn(f" {status} ".encode(), connection.recv(1 << 16).split(b"\r\n")[0])

    def test_a_chunk_without_an_end_is_refused(self):
        with self.simulator.raw() as connection:
            connection.sendall(f"POST /do HTTP/1.1\r\nHost: {self.simulator.host}\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n".encode() + b"1" * 50_000)
            self.assertIn(b" 411 ", connection.recv(1 << 16).split(b"\r\n")[0])
            self.listed_within(10)

    def test_a_head_that_does_not_come_is_not_waited_for(self):
        with self.simulator.raw() as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n")
            connection.settimeout(15)
            self.assertEqual(connection.recv(1), b"")
        # Clients that say nothing make room for those that do.
        silent = [self.simulator.raw() for _ in range(300)]
        time.sleep(1.2)
        self.listed_within(10)
        for connection in silent:
            connection.close()

    def test_slow_bodies_shut_nobody_out(self):
        head = f"POST /do HTTP/1.1\r\nHost: {self.simulator.host}\r\nContent-Length: 8000000\r\n\r\n".encode()
        slow = [self.simulator.raw() for _ in range(300)]
        for connection in slow:
            try:
                connection.sendall(head)
            except OSError:
                pass
        time.sleep(2.5)
        self.listed_within(10)
        for connection in slow:
            connection.close()

    def test_the_longest_lines_are_read_in_less_than_a_second(self):
        long = {"X-Long": "a" * 16_000}
        for path, headers, status in [("/" + "a" * 2_000, {}, 403), ("/" + "a" * 16_000, {}, 404), ("/" + "a" * 17_000, {}, 431),
                                      ("/", long, 200), ("/", {"Origin": "a" * 600}, 431), ("/", {"Cookie": "a" * 17_000}, 431)]:
            times = []
            # Other programs may hold one up.
            while not times or min(times) >= 1 and len(times) < 5:
                began = time.monotonic()
                self.assertEqual(self.simulator.http(path, known=False, headers=headers)[0], status)
                times.append(time.monotonic() - began)
            self.assertLess(min(times), 1)

    def test_after_ten_thousand_connections_the_page_is_served(self):
        sockets = []
        for _ in range(10_000):
            try:
                sockets.append(socket.create_connection(("127.0.0.1", self.simulator.port), 5))
            except OSError:
                pass
            if len(sockets) >= 900:
                # A process may not have more open files than that itself.
                for old in sockets[:450]:
                    old.close()
                del sockets[:450]
        for old in sockets:
            old.close()
        # The simulator may still be about to see that they have closed.
        until = time.monotonic() + 20
        while (status := self.simulator.http("/", known=False)[0]) == 503 and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(status, 200)
        self.simulator.page().ask("list")


@unittest.skipUnless(os.geteuid() == 0, "Left out: another user is only had as root.")
class TwoUserTests(Case):
    """What another user of the computer can do, who has even seen the cookie."""

    def as_other(self, script, *arguments):
        """Runs a script as another user, and returns what it prints."""
        run = subprocess.run(["/usr/bin/env", "python3", "-c", script, *map(str, arguments)], user=65534, group=65534, extra_groups=[], cwd="/",
                             stdout=subprocess.PIPE, text=True, timeout=60)
        return run.stdout

    def ask(self, request, ending="print(s.recv(99).decode().split()[1])"):
        return self.as_other(f"import socket, sys; s = socket.create_connection(('127.0.0.1', {self.simulator.port}), 10); "
                             f"s.sendall(sys.argv[1].encode()); {ending}", request)

    def test_a_connection_of_another_user_is_refused(self):
        head = f"HTTP/1.1\r\nHost: {self.simulator.host}\r\nCookie: {self.simulator.cookie}\r\n"
        body = json.dumps({"do": "new_tag", "product": "NTAG213", "name": "Theirs"})
        post = f"POST /do {head}Content-Length: {len(body)}\r\n\r\n{body}"
        token = self.simulator.address().split("token=")[1]
        for request in [f"GET / {head}\r\n", f"GET /export/save {head}\r\n", post, f"POST /enter {head}X-Token: {token}\r\n\r\n",
                        f"GET /socket {head}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"]:
            self.assertEqual(self.ask(request), "403\n")
        # The system says of a connection whose program has left that it is root's.
        for ending in ["s.close()", "s.shutdown(1)", "sys.exit()"]:
            for _ in range(20):
                self.ask(post, ending)
        self.assertNotIn("Theirs", [tag["name"] for tag in self.simulator.do("list")["tags"]])
        # The token was not used up.
        self.assertEqual(self.simulator.http("/enter", "POST", headers={"X-Token": token}, known=False)[0], 204)

    def test_another_user_sees_no_token(self):
        self.simulator.end()
        folder = self.simulator.place / "bin"
        folder.mkdir()
        os.mkfifo(folder / "end")
        # The program runs until this is closed.
        self.addCleanup(os.close, os.open(folder / "end", os.O_RDWR))
        (folder / "xdg-open").write_text('#!/bin/sh\nread -r line <"${0%/*}/end"\n')
        (folder / "xdg-open").chmod(0o700)
        self.simulator.environment |= {"DISPLAY": ":0", "PATH": f"{folder}:{os.environ['PATH']}"}
        self.simulator.start(browser=True)
        run = os.path.dirname(self.simulator.socket)
        file = os.path.join(run, "simulator.html")
        script = "import glob; [print(open(p, errors='replace').read()) for p in glob.glob('/proc/[0-9]*/cmdline')]"
        until = time.monotonic() + 20
        while file not in (seen := self.as_other(script)):
            self.assertLess(time.monotonic(), until, "xdg-open was not started")
        self.assertNotIn("token=", seen.replace(script, ""))
        with open(file, encoding="utf-8") as opened:
            self.assertIn("/#token=", opened.read())
        self.assertEqual((os.stat(run).st_mode & 0o777, os.stat(file).st_mode & 0o777), (0o700, 0o600))
        os.chmod(self.simulator.place, 0o755)
        os.chmod(self.simulator.place / "run", 0o755)
        for path in [file, os.path.join(run, "simulator.json")]:
            self.assertEqual(self.as_other("import sys\ntry: print(open(sys.argv[1]).read())\nexcept PermissionError: print('no')", path), "no\n")
        for name in ["page.sock", "simulator.sock"]:
            self.assertEqual(self.as_other("import socket, sys\ntry: print(socket.socket(socket.AF_UNIX).connect(sys.argv[1]))\n"
                                           "except PermissionError: print('no')", os.path.join(run, name)), "no\n")


class ProgramTests(Case):
    def test_a_program_reads_a_tag_with_frames(self):
        page = self.simulator.page()
        tag = page.ask("new_tag", product="NTAG213", uid="04a1b2c3d4e5f6", text="hello")["tag"]
        program = self.simulator.connect(name="Reader")
        self.assertEqual(program.hello["technologies"], ["nfc-a", "nfc-b", "nfc-f", "nfc-v"])
        page.ask("hold", tag=tag)
        program.ask("claim", **{"for": "session"})
        program.ask("carrier", on=True)
        self.assertEqual(program.frame("nfc-a", "26", bits=7, checksum="none")["bytes"], "4400")
        for level in ["93", "95"]:
            part = program.frame("nfc-a", level + "20", checksum="none")["bytes"]
            program.frame("nfc-a", level + "70" + part)
        self.assertIn("68656c6c6f", program.frame("nfc-a", "3a0409")["bytes"])

    def test_the_example_of_the_documentation_reads_a_tag(self):
        page = self.simulator.page()
        tag = page.ask("new_tag", product="NTAG213", uid="04a1b2c3d4e5f6", text="x")["tag"]
        page.ask("hold", tag=tag)
        source = (pathlib.Path(__file__).parents[2] / "README.md").read_text().split("```python\n")[1].split("```")[0]
        done = subprocess.run([sys.executable, "-c", source], env=self.simulator.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tag: 04a1b2c3d4e5f6", done.stdout)
        self.assertIn("pages 0 to 3: 04a1b2", done.stdout)

    def test_a_line_that_is_too_long_ends_the_connection_with_a_sentence(self):
        program = self.simulator.connect()
        program.event("switches")
        program.socket.sendall(b"x" * (1 << 19))
        self.assertEqual(program.line()["error"], "line-too-long")
        self.assertIsNone(program.line())

    def test_lines_that_are_no_requests_are_answered(self):
        program = self.simulator.connect()
        program.event("switches")
        for line in [b"{", b"[1,2]", b"\xff\xff", b'{"id":1}', b"null", b"[" * 10_000]:
            program.socket.sendall(line + b"\n")
            self.assertIn("error", program.line())
        program.ask("watch")

    def test_a_line_may_come_in_parts(self):
        program = self.simulator.connect()
        program.event("switches")
        for byte in b'{"id":7,"do":"watch"}\n{"id":8,"do":"watch"}\n':
            program.socket.sendall(bytes([byte]))
        self.assertEqual([program.line()["id"], program.line()["id"]], [7, 8])

    def test_too_many_programs_are_refused_with_a_sentence(self):
        programs = [self.simulator.connect(name=f"Program {number}") for number in range(32)]
        more = self.simulator.connect(name="More")
        self.assertEqual(more.hello["error"], "too-many-clients")
        silent = [self.simulator.connect(greets=False) for _ in range(40)]
        self.assertTrue(any((line := program.line()) and line["error"] == "too-many-clients" for program in silent[35:]))
        for program in programs + silent:
            program.close()
        page = self.simulator.page()
        page.until(lambda page: not any(app["connected"] for app in page.state["apps"]))
        self.assertEqual(self.simulator.connect(name="Later").hello["hello"], 1)

    def test_programs_that_say_nothing_leave_room(self):
        silent = [self.simulator.connect(greets=False) for _ in range(64)]
        for program in silent[:2] + silent[-1:]:
            program.socket.settimeout(15)
            self.assertEqual(program.line()["error"], "no-greeting")
        self.assertEqual(self.simulator.connect(name="Later").hello["hello"], 1)
        for program in silent:
            program.close()

    def test_the_socket_is_for_its_user_alone(self):
        status = os.stat(self.simulator.socket)
        self.assertEqual(status.st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(os.path.dirname(self.simulator.socket)).st_mode & 0o777, 0o700)
        address = os.path.join(os.path.dirname(self.simulator.socket), "simulator.json")
        self.assertEqual(os.stat(address).st_mode & 0o777, 0o600)

    def test_a_program_that_takes_nothing_is_no_burden(self):
        stuck = self.simulator.connect(name="Stuck")
        stuck.ask("watch")
        page = self.simulator.page()
        for _ in range(3000):
            page.ask("hold", tag="empty-sticker")
            page.ask("leave")
        self.assertEqual(page.ask("list")["tags"][1]["near"], False)


class CommandTests(Case):
    def test_the_port_is_another_one_at_each_start_and_storage_is_cleared(self):
        ports = []
        for _ in range(4):
            ports.append(self.simulator.port)
            self.simulator.end()
            self.simulator.start()
        self.assertEqual(len(set(ports)), 4)
        self.assertEqual(self.simulator.http("/", known=False)[1]["Clear-Site-Data"], '"cache", "storage"')
        for path, known in [("/", True), ("/main.js", False)]:
            self.assertIsNone(self.simulator.http(path, known=known)[1]["Clear-Site-Data"])

    def test_any_free_port_is_the_one_that_is_said(self):
        self.simulator.end()
        self.simulator.start("--port", "0")
        self.assertNotEqual(self.simulator.port, 0)
        self.simulator.do("list")

    def test_commands_act_on_the_running_simulator(self):
        made = self.simulator.command("new", "NTAG215", "--name", "Made", "--link", "https://example.com")
        self.assertEqual((made.returncode, made.stdout), (0, "made\n"))
        self.assertEqual(self.simulator.command("hold", "Made").returncode, 0)
        tags = json.loads(self.simulator.command("list", "--json").stdout)["tags"]
        self.assertTrue(next(tag for tag in tags if tag["id"] == "made")["near"])
        self.assertEqual(self.simulator.command("leave").returncode, 0)
        self.assertEqual(self.simulator.command("switch", "leave_after", "3").returncode, 0)
        self.assertEqual(self.simulator.command("lock").returncode, 0)
        state = self.simulator.do("state")["state"]
        self.assertEqual((state["phone"]["locked"], state["switches"]["leave_after"]), (True, 3))

    def test_a_failure_is_one_object_or_one_sentence(self):
        plain = self.simulator.command("tap", "elsewhere")
        self.assertEqual((plain.returncode, plain.stdout), (1, ""))
        self.assertIn("No tag has this id or name", plain.stderr)
        answer = self.simulator.command("tap", "elsewhere", "--json")
        self.assertEqual(json.loads(answer.stdout)["error"], "no-such-tag")

    def test_wrong_usage_ends_with_two(self):
        for words, part in [(["tap"], "tap <tag>"), (["switch", "noise", "loud"], "switch <name>"), (["--port", "x"], "run"),
                            (["--tags", ""], "--tags needs"), (["export", "empty-sticker"], "export <tag>"), (["dance"], "dance")]:
            plain = self.simulator.command(*words)
            self.assertEqual((plain.returncode, plain.stdout), (2, ""), words)
            self.assertIn(part, plain.stderr)
            answer = self.simulator.command(*words, "--json")
            self.assertEqual(answer.returncode, 2, words)
            parts = json.loads(answer.stdout)
            self.assertEqual((parts["ok"], parts["error"]), (False, "usage"), words)
            self.assertTrue(parts["message"])

    def test_a_file_that_cannot_be_imported_says_why(self):
        for file, part in [("/nowhere/tag.nfc", "No such file"), (str(self.simulator.place), "folder")]:
            plain = self.simulator.command("import", file)
            self.assertEqual((plain.returncode, plain.stdout), (1, ""))
            self.assertIn(part, plain.stderr)
            answer = json.loads(self.simulator.command("import", file, "--json").stdout)
            self.assertEqual((answer["ok"], answer["error"]), (False, "unreadable-file"))

    def test_an_exported_tag_is_in_its_file(self):
        file = self.simulator.place / "tag.nfc"
        plain = self.simulator.command("export", "empty-sticker", str(file), "--format", "flipper")
        self.assertEqual((plain.returncode, plain.stdout), (0, ""))
        written = file.read_text()
        self.assertIn("Filetype: Flipper", written)
        file.unlink()
        answer = json.loads(self.simulator.command("export", "empty-sticker", str(file), "--format", "flipper", "--json").stdout)
        self.assertEqual((answer["ok"], answer["path"]), (True, str(file)))
        self.assertNotIn("base64", answer)
        self.assertEqual(file.read_text(), written)
        self.assertEqual(self.simulator.command("export", "empty-sticker", "-", "--format", "flipper").stdout, written)
        file.write_text("Mine.")
        refused = self.simulator.command("export", "empty-sticker", str(file), "--json")
        self.assertEqual((refused.returncode, json.loads(refused.stdout)["error"]), (1, "not-an-image"))
        self.assertEqual(file.read_text(), "Mine.")
        failed = self.simulator.command("export", "empty-sticker", "/nowhere/tag.nfc", "--json")
        self.assertEqual((failed.returncode, json.loads(failed.stdout)["error"]), (1, "unwritable-file"))

    def test_a_tap_can_be_waited_for(self):
        began = time.monotonic()
        self.assertEqual(self.simulator.command("tap", "empty-sticker", "--ms", "700", "--wait").returncode, 0)
        self.assertGreaterEqual(time.monotonic() - began, 0.7)

    def test_a_second_start_says_where_the_first_one_runs(self):
        second = self.simulator.command("--json")
        self.assertEqual(second.returncode, 1)
        answer = json.loads(second.stdout)
        self.assertEqual((answer["ok"], answer["error"]), (False, "already-running"))
        # With an address that was not used yet.
        self.assertEqual(Page(self.simulator.host, enter(answer["url"])).status, 101)

    def test_without_a_simulator_commands_say_how_to_start_one(self):
        self.simulator.end()
        answer = self.simulator.command("list")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("nfc simulator", answer.stderr)

    def test_it_ends_when_it_is_asked_to(self):
        self.assertEqual(self.simulator.command("quit").returncode, 0)
        self.assertEqual(self.simulator.process.wait(30), 0)
        self.assertEqual(os.listdir(os.path.dirname(self.simulator.socket)), ["page.name"])

    def test_apps_are_started_and_ended_with_it(self):
        self.simulator.end()
        self.simulator.start("--app", "echo hello; echo $NFC_READER; exec sleep 1000")
        page = self.simulator.page()
        page.until(lambda page: any(len(app["output"]) == 2 for app in page.state["apps"]))
        app = page.state["apps"][0]
        self.assertEqual(app["output"], ["hello", f"simulator:{self.simulator.socket}"])
        self.assertTrue(app["running"])
        self.simulator.end()
        self.assertEqual(self.simulator.process.returncode, 0)
        self.wait_gone(app["pid"])

    def wait_gone(self, pid):
        until = time.monotonic() + 10
        while os.path.exists(f"/proc/{pid}") and open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
            self.assertLess(time.monotonic(), until, "the program still runs")
            time.sleep(0.05)

    def start_apps(self, *commands):
        """Starts the simulator with apps, and returns their processes when they have printed a line."""
        self.simulator.end()
        self.simulator.start(*(word for command in commands for word in ("--app", command)))
        page = self.simulator.page()
        page.until(lambda page: len([app for app in page.state["apps"] if app["output"]]) == len(commands))
        return [app["pid"] for app in page.state["apps"]] + [int(app["output"][0]) for app in page.state["apps"]]

    def test_a_scenario_opens_tags_and_conditions_and_starts_its_app(self):
        page = self.simulator.page()
        page.ask("new_tag", product="NTAG213", name="Of the scenario", text="x")
        page.ask("switch", name="noise", value=0.25)
        self.simulator.local("start_app", command="echo here; exec sleep 1000")
        page.until(lambda page: any(app["running"] for app in page.state["apps"]))
        path = self.simulator.place / "scenario.json"
        path.write_bytes(base64.b64decode(page.ask("save")["base64"]))
        page.ask("delete", tag="Of the scenario")
        self.simulator.end()
        self.simulator.start("--scenario", str(path))
        page = self.simulator.page()
        page.until(lambda page: any(app["output"] == ["here"] for app in page.state["apps"]))
        self.assertIn("Of the scenario", [tag["name"] for tag in page.state["tags"]])
        self.assertEqual(page.state["switches"]["noise"], 0.25)
        self.simulator.end()
        # The user's own drawer is as it was.
        self.simulator.start()
        self.assertNotIn("Of the scenario", [tag["name"] for tag in self.simulator.page().state["tags"]])

    def test_a_program_that_does_not_start_says_why_and_is_removed(self):
        self.simulator.local("start_app", command="/nowhere/app")
        page = self.simulator.page()
        page.until(lambda page: page.state["apps"] and any("ended with status 127" in line for line in page.state["apps"][0]["output"]))
        page.until(lambda page: any("/nowhere/app" in line for line in page.state["apps"][0]["output"]))
        page.until(lambda page: not page.state["apps"][0]["running"])
        page.ask("remove_app", app=page.state["apps"][0]["id"])
        page.until(lambda page: page.state["apps"] == [])

    def test_apps_end_when_the_simulator_is_killed(self):
        pids = self.start_apps("sleep 1000 & echo $!; wait", "echo $$; exec sleep 1000")
        self.simulator.process.kill()
        self.simulator.process.wait()
        for pid in pids:
            self.wait_gone(pid)

    def test_an_app_is_stopped_and_started_from_the_page(self):
        self.simulator.end()
        self.simulator.start("--app", "trap 'echo ends; exit 5' TERM; echo runs; while :; do sleep 0.05; done")
        page = self.simulator.page()
        for turn in (1, 2):
            page.until(lambda page: page.state["apps"] and page.state["apps"][0]["output"].count("runs") == turn)
            app = page.state["apps"][0]
            page.ask("stop_app", app=app["id"])
            # It ends by the signal that it hears, and not by one that it can't.
            page.until(lambda page: not page.state["apps"][0]["running"] and page.state["apps"][0]["output"].count("ends") == turn)
            self.wait_gone(app["pid"])
            if turn == 1:
                page.ask("open_app", app=app["id"])

    def test_a_second_signal_ends_it_at_once(self):
        pids = self.start_apps("trap '' TERM; echo $$; while :; do sleep 1; done")
        self.simulator.process.send_signal(signal.SIGINT)
        # An app that does not end by itself is waited for.
        with self.assertRaises(subprocess.TimeoutExpired):
            self.simulator.process.wait(0.5)
        self.simulator.process.send_signal(signal.SIGINT)
        self.assertEqual(self.simulator.process.wait(20), 130)
        for pid in pids:
            self.wait_gone(pid)

    def test_an_app_brings_its_description(self):
        folder = self.simulator.place / "program"
        installation = folder / "Package_Shop.resources" / "Installation"
        installation.mkdir(parents=True)
        (installation / "org.example.Shop.json").write_text(
            '{"app_id": "TEAM.org.example.Shop", "associated_domains": ["applinks:shop.example"]}')
        (installation / "org.example.Shop.desktop").write_text("[Desktop Entry]\nType=Application\nName=Shop\nExec=Shop\n")
        (installation / "apple-app-site-association").write_text(
            '{"applinks":{"details":[{"appIDs":["TEAM.org.example.Shop"],"components":[{"/":"/*"}]}]}}')
        shutil.copy(os.path.realpath(sys.executable), folder / "Shop")
        script = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
                  "s.sendall(b'{\"hello\":1,\"client\":\"app\",\"name\":\"Shop\"}\\n'); "
                  "print(*(line.strip() for line in s.makefile() if '\"link\"' in line), flush=True)")
        home = {"PYTHONHOME": sys.base_prefix, "LD_LIBRARY_PATH": os.path.join(sys.base_prefix, "lib")}
        shop = subprocess.Popen([folder / "Shop", "-c", script, self.simulator.socket], env=os.environ | home, stdout=subprocess.PIPE)
        self.addCleanup(shop.stdout.close)
        self.addCleanup(shop.wait)
        self.addCleanup(shop.kill)
        page = self.simulator.page()
        page.until(lambda page: any(app["associated_domains"] == ["applinks:shop.example"] for app in page.state["apps"]))
        tag = page.ask("new_tag", product="NTAG213", link="https://shop.example/a")["tag"]
        page.ask("hold", tag=tag)
        page.until(lambda page: page.state["notifications"])
        self.assertEqual(page.state["notifications"][0]["body"], "Open “shop.example” in Shop")
        page.ask("open_notification", notification=page.state["notifications"][0]["id"])
        page.until(lambda page: page.state["phone"]["front"] == page.state["apps"][0]["id"])


class LastingTests(Case):
    def test_a_restart_loses_nothing(self):
        page = self.simulator.page()
        tag = page.ask("new_tag", product="NTAG213", name="Kept", text="old")["tag"]
        page.ask("edit_message", tag=tag, text="new")
        page.ask("switch", name="noise", value=0.5)
        page.ask("lock")
        page.ask("delete", tag="empty-sticker")
        before = page.ask("list")["tags"]
        self.simulator.end()
        self.simulator.start()
        page = self.simulator.page()
        after = page.ask("list")["tags"]
        self.assertEqual([(tag["id"], tag["name"], tag["message_hex"]) for tag in before],
                         [(tag["id"], tag["name"], tag["message_hex"]) for tag in after])
        self.assertEqual(page.state["switches"]["noise"], 0.5)
        self.assertTrue(page.state["phone"]["locked"])

    def test_a_folder_that_was_removed_is_made_again(self):
        page = self.simulator.page()
        folder = self.simulator.place / "data" / "opencorenfc" / "simulator"
        self.simulator.do("list")
        shutil.rmtree(folder)
        page.ask("new_tag", product="NTAG213", name="Made later", text="kept")
        self.assertNotIn("unsaved", self.simulator.do("list"))
        ids = [tag["id"] for tag in page.ask("list")["tags"]]
        self.simulator.end()
        self.simulator.start()
        self.assertEqual([tag["id"] for tag in self.simulator.do("list")["tags"]], ids)
        self.assertIn("made-later", ids)

    def test_what_cannot_be_saved_is_said_and_saved_later(self):
        page = self.simulator.page()
        folder = self.simulator.place / "data" / "opencorenfc" / "simulator"
        self.simulator.do("list")
        shutil.rmtree(folder)
        folder.write_text("in the way")
        answer = self.simulator.command("new", "NTAG213", "--name", "Waiting", "--text", "kept", "--json")
        self.assertIn("simulator", json.loads(answer.stdout)["unsaved"])
        self.assertIn("Not saved yet", answer.stderr)
        page.until(lambda page: page.state["storage"]["problem"])
        folder.unlink()
        page.until(lambda page: page.state["storage"]["problem"] is None)
        self.assertTrue(any(name.startswith("waiting.") for name in os.listdir(folder)))
        self.assertNotIn("unsaved", self.simulator.do("list"))
        self.simulator.process.kill()
        self.simulator.process.wait()
        self.simulator.start()
        self.assertIn("waiting", [tag["id"] for tag in self.simulator.do("list")["tags"]])

    def test_a_folder_keeps_its_mode(self):
        self.simulator.end()
        folder = self.simulator.place / "mine"
        for mode in [0o755, 0o750, 0o700]:
            folder.mkdir()
            folder.chmod(mode)
            self.simulator.start("--tags", str(folder))
            self.simulator.do("list")
            self.simulator.end()
            self.assertEqual(folder.stat().st_mode & 0o777, mode)
            shutil.rmtree(folder)
        self.simulator.start("--tags", str(folder))
        self.simulator.end()
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        folder.chmod(0o777)
        refused = self.simulator.command("--json", "--no-browser", "--tags", str(folder))
        self.assertEqual(refused.returncode, 1)
        self.assertIn("Other users can write", json.loads(refused.stdout)["message"])

    def test_a_folder_has_one_simulator(self):
        (self.simulator.place / "other").mkdir(mode=0o700)
        environment = self.simulator.environment | {"XDG_RUNTIME_DIR": str(self.simulator.place / "other")}
        second = subprocess.run([self.simulator.program, "--json", "--no-browser"], env=environment, capture_output=True, text=True,
                                timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"process {self.simulator.process.pid} ", json.loads(second.stdout)["message"])

    def test_what_is_in_the_folder_is_in_the_drawer(self):
        self.simulator.end()
        folder = self.simulator.place / "data" / "opencorenfc" / "simulator"
        (folder / "broken.json").write_text("{}")
        (folder / "own.json").write_text((folder / "empty-sticker.json").read_text())
        (folder / "notes.txt").write_text("no tag")
        self.simulator.start()
        ids = [tag["id"] for tag in self.simulator.do("list")["tags"]]
        self.assertIn("own", ids)
        self.assertNotIn("broken", ids)
        self.assertTrue(any("broken" in line for line in self.simulator.errors))

    def test_a_killed_simulator_is_no_obstacle(self):
        self.simulator.process.kill()
        self.simulator.process.wait()
        self.simulator.start()
        self.simulator.do("list")


if __name__ == "__main__":
    unittest.main()
