# SPDX-License-Identifier: Apache-2.0
"""Clients of the simulator in plain Python: its local socket, its WebSocket, and its HTTP addresses."""
import base64
import http.client
import json
import os
import socket
import struct
import urllib.error
import urllib.request

TIMEOUT = 30


class Failure(Exception):
    """The simulator's answer to a request that it does not do."""

    def __init__(self, answer):
        super().__init__(answer.get("message", answer["error"]))
        self.code = answer["error"]
        self.answer = answer


class Program:
    """A program at the local socket: JSON lines, both ways."""

    def __init__(self, path, name="Python", client="reader", greets=True):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(path)
        self.pending = b""
        self.events = []
        self.last = 0
        self.hello = None
        if greets:
            self.send(hello=1, client=client, name=name, pid=os.getpid())
            self.hello = self.line()

    def send(self, **request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def line(self):
        """The next line; None at the end."""
        while b"\n" not in self.pending:
            data = self.socket.recv(1 << 16)
            if not data:
                return None
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def ask(self, do, **request):
        """Sends a request, and waits for its answer. Events that come before it are kept."""
        self.last += 1
        self.send(id=self.last, do=do, **request)
        while (answer := self.line()) is not None:
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Failure(answer)
                return answer
            self.events.append(answer)
        raise ConnectionError("the simulator has closed the connection")

    def event(self, name):
        """Waits for an event."""
        for index, event in enumerate(self.events):
            if event.get("event") == name:
                return self.events.pop(index)
        while (event := self.line()) is not None:
            if event.get("event") == name:
                return event
            self.events.append(event)
        raise ConnectionError("the simulator has closed the connection")

    def frame(self, technology, data, **options):
        return self.ask("frame", technology=technology, bytes=data, **options)

    def close(self):
        self.socket.close()


class Page:
    """A window: a WebSocket with one JSON object a message (RFC 6455)."""

    def __init__(self, own, cookie, host=None, origin=None):
        self.socket = socket.create_connection(("127.0.0.1", int(own.rsplit(":", 1)[1])), TIMEOUT)
        lines = ["GET /socket HTTP/1.1", f"Host: {host or own}", f"Cookie: {cookie}", "Upgrade: websocket",
                 "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()]
        if origin:
            lines.append(f"Origin: {origin}")
        self.socket.sendall("\r\n".join(lines + ["", ""]).encode())
        self.pending = b""
        while b"\r\n\r\n" not in self.pending:
            self.pending += self.take()
        head, self.pending = self.pending.split(b"\r\n\r\n", 1)
        self.status = int(head.split()[1])
        self.messages = []
        self.state = {}
        self.version = None
        self.trace = []
        self.last = 0
        if self.status == 101:
            first = self.message()
            assert first["type"] == "state", first
            self.state, self.version = first["state"], first["version"]

    def take(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the simulator has closed the window")
        return data

    def bytes(self, count):
        while len(self.pending) < count:
            self.pending += self.take()
        data, self.pending = self.pending[:count], self.pending[count:]
        return data

    def message(self):
        """The next message."""
        text = b""
        while True:
            first, second = self.bytes(2)
            size = second & 127
            if size == 126:
                size, = struct.unpack(">H", self.bytes(2))
            elif size == 127:
                size, = struct.unpack(">Q", self.bytes(8))
            data = self.bytes(size)
            if first & 15 == 8:
                raise ConnectionError("the simulator has closed the window")
            if first & 15 in (0, 1):
                text += data
                if first & 128:
                    return json.loads(text)

    def send_text(self, data, opcode=1, isLast=True):
        mask = os.urandom(4)
        size = len(data)
        head = bytes([(128 if isLast else 0) | opcode])
        if size < 126:
            head += bytes([128 | size])
        elif size < 1 << 16:
            head += bytes([128 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([128 | 127]) + struct.pack(">Q", size)
        pattern = int.from_bytes((mask * (size // 4 + 1))[:size])
        self.socket.sendall(head + mask + (int.from_bytes(data) ^ pattern).to_bytes(size))

    def apply(self, message):
        """Follows the state as a page does."""
        if message["type"] == "patch":
            assert message["version"] == self.version + 1, (message["version"], self.version)
            self.version = message["version"]
            for key, value in message["set"].items():
                if key.startswith("tags."):
                    tags = self.state["tags"]
                    index = next((i for i, tag in enumerate(tags) if tag["id"] == key[5:]), None)
                    if value is None:
                        if index is not None:
                            del tags[index]
                    elif index is None:
                        tags.append(value)
                    else:
                        tags[index] = value
                else:
                    self.state[key] = value
        elif message["type"] == "trace":
            if message.get("cleared"):
                self.trace = []
            self.trace += message["rows"]

    def ask(self, do, **action):
        """Does an action, and returns its result."""
        self.last += 1
        self.send_text(json.dumps({"id": self.last, "do": do, **action}).encode())
        while True:
            message = self.message()
            if message.get("id") == self.last and message["type"] in ("done", "failed", "trace_rows"):
                if message["type"] == "failed":
                    raise Failure(message)
                return message.get("result", message)
            self.apply(message)

    def until(self, condition):
        """Follows the state until a condition of this window holds."""
        while not condition(self):
            self.apply(self.message())
        return self

    def tag(self, key):
        return next((tag for tag in self.state["tags"] if tag["id"] == key), None)

    def close(self):
        self.socket.close()


def enter(address):
    """Gives back the token of an address, as the page does, and returns the cookie of the session."""
    origin, token = address.split("/#token=")
    status, headers, body = http_request(origin.split("/")[2], "/enter", "POST", headers={"X-Token": token, "Origin": origin})
    assert status == 204, body
    return headers["Set-Cookie"].split(";")[0]


def act(folder, do, **action):
    """Does an action at the socket in the private folder, as the commands do."""
    connection = http.client.HTTPConnection("simulator", timeout=TIMEOUT)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(TIMEOUT)
    connection.sock.connect(os.path.join(folder, "page.sock"))
    connection.request("POST", "/do", json.dumps({"do": do, **action}), {"X-Simulator-Access": "local"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    if "error" in answer:
        raise Failure(answer)
    return answer


def http_request(host, path, method="GET", body=None, headers=None):
    """A request to the page's server: its status, headers and body."""
    # Browsers know names below localhost; the resolver of the system need not.
    address = f"http://127.0.0.1:{host.rsplit(':', 1)[1]}{path}"
    request = urllib.request.Request(address, body, {"Host": host} | (headers or {}), method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers, answer.read()
