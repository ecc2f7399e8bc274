# SPDX-License-Identifier: Apache-2.0
"""A program on a bus, without a library for it: python3 bus_peer.py SOCKET USER MODE NAME

As the user with the number USER it connects to the bus at SOCKET. With the mode 'silent' it takes the bus name NAME, prints
'ready' and answers nothing. With 'call' it gives the app NAME a link, and prints what the app answers. With 'forge' it prints
'ready' and answers calls that were never made to it: those of all connections with a low number.
"""
import os
import re
import select
import socket
import struct
import sys

CALL, RETURN, ERROR = 1, 2, 3
PATH, INTERFACE, MEMBER, REPLY_SERIAL, DESTINATION, SIGNATURE = 1, 2, 3, 5, 6, 8


def text(data, value):
    data += b"\0" * (-len(data) % 4) + struct.pack("<I", len(value)) + value.encode() + b"\0"


def message(kind, serial, fields, signature="", body=b""):
    array = bytearray()
    for code, letter, value in fields + ([(SIGNATURE, "g", signature)] if signature else []):
        array += b"\0" * (-len(array) % 8) + bytes([code, 1, ord(letter), 0])
        if letter == "u":
            array += b"\0" * (-len(array) % 4) + struct.pack("<I", value)
        elif letter == "g":
            array += bytes([len(value)]) + value.encode() + b"\0"
        else:
            text(array, value)
    head = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), serial, len(array)) + bytes(array)
    return head + b"\0" * (-len(head) % 8) + body


def call(serial, destination, path, interface, member, signature="", body=b""):
    fields = [(PATH, "o", path), (DESTINATION, "s", destination), (INTERFACE, "s", interface), (MEMBER, "s", member)]
    return message(CALL, serial, fields, signature, body)


def receive(link):
    head = link.recv(16, socket.MSG_WAITALL)
    if len(head) < 16:
        sys.exit(0)
    size, serial, fields = struct.unpack("<III", head[4:16])
    rest = link.recv((fields + 7) // 8 * 8 + size, socket.MSG_WAITALL)
    return head[1], serial, rest


def forge(link):
    """Answers what nobody asked it, to each connection that comes: its own name, its user, and the number 1."""
    body = bytearray()
    text(body, "type='signal',member='NameOwnerChanged'")
    link.sendall(call(2, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", "s", bytes(body)))
    _, _, rest = receive(link)
    own = re.search(rb":1\.\d+", rest).group().decode()
    print("ready", flush=True)
    name = bytearray()
    text(name, own)
    answers = [("s", bytes(name)), ("u", struct.pack("<I", os.getuid())), ("u", struct.pack("<I", 1))]
    newest, serial = int(own[3:]), 2
    while True:
        # The bus gives its names in order, and reports each.
        while select.select([link], [], [], 0)[0]:
            data = link.recv(1 << 16)
            if not data:
                sys.exit(0)
            newest = max([newest] + [int(number) for number in re.findall(rb":1\.(\d+)", data)])
        batch = bytearray()
        for number in (newest, newest + 1):
            for cookie in range(2, 7):
                for signature, body in answers:
                    serial += 1
                    fields = [(REPLY_SERIAL, "u", cookie), (DESTINATION, "s", f":1.{number}")]
                    batch += message(RETURN, serial, fields, signature, body)
        link.sendall(bytes(batch))


def main():
    path, user, mode, name = sys.argv[1:]
    link = socket.socket(socket.AF_UNIX)
    os.setuid(int(user))
    link.connect(path)
    link.sendall(b"\0AUTH EXTERNAL " + user.encode().hex().encode() + b"\r\n")
    if not link.recv(200).startswith(b"OK"):
        sys.exit("The bus does not let in the user.")
    link.sendall(b"BEGIN\r\n")
    daemon = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
    link.sendall(call(1, *daemon, "Hello"))
    if mode == "call":
        body = bytearray()
        text(body, "NSUserActivityTypeBrowsingWeb")
        text(body, "https://a.example")
        record = bytes([0xD1, 1, 10, 0x55, 4]) + b"a.example"
        body += b"\0" * (-len(body) % 4) + struct.pack("<I", len(record)) + record
        body += b"\0" * (-len(body) % 4) + struct.pack("<I", 0)
        body += b"\0" * (-len(body) % 8)
        interface = "org.opencorenfc.UserActivity1"
        target = (name, "/" + name.replace(".", "/"), interface, "ContinueUserActivity")
        link.sendall(call(2, *target, "ssaya{sv}", bytes(body)))
        while True:
            kind, _, rest = receive(link)
            if kind == ERROR:
                print(re.search(rb"org\.freedesktop\.DBus\.Error\.\w+", rest).group().decode())
                return
            # The answer to Hello is a text; that of the app is a Boolean.
            if kind == RETURN and b"\x08\x01g\0\x01b\0" in rest:
                print("handled" if rest[-4:] == b"\1\0\0\0" else "not handled")
                return
    if mode == "forge":
        forge(link)
    body = bytearray()
    text(body, name)
    body += b"\0" * (-len(body) % 4) + struct.pack("<I", 0)
    link.sendall(call(2, *daemon, "RequestName", "su", bytes(body)))
    is_ready = False
    while True:
        kind, _, rest = receive(link)
        if not is_ready and kind == RETURN and rest[-4:] == b"\1\0\0\0":
            is_ready = True
            print("ready", flush=True)


main()
