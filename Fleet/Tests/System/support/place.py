# SPDX-License-Identifier: Apache-2.0
"""A broker, nodes, a database and the consumer, put together for a test."""
import json
import os
import pathlib
import random
import sqlite3
import sys
import unittest

import paho.mqtt.client as mqtt

from support.database import Database
from support.programs import FLEET, Program, built, free_port, make_folder, wait_for

# The settings that the access rules recommend, on this machine and without encryption.
PLAIN = ["allow_anonymous true"]
USUAL = ["max_inflight_messages 100", "max_queued_messages 1000000", "persistence true", "autosave_interval 60"]


class Broker:
    """mosquitto on a port of its own. It can be killed and started again."""

    def __init__(self, case, folder, *, settings=PLAIN, address="127.0.0.1", namespace=None, extra=()):
        self.port, self.address, self.folder = free_port(), address, folder / "broker"
        self.folder.mkdir()
        lines = [f"listener {self.port} {address}", *settings, *USUAL, *extra, f"persistence_location {self.folder}/"]
        if os.geteuid() == 0:
            lines.append("user root")
        file = self.folder / "mosquitto.conf"
        file.write_text("\n".join(lines) + "\n")
        self.program = Program(case, ["mosquitto", "-c", file], self.folder / "log", namespace=namespace)
        self.program.wait_for_line(" running")

    @property
    def url(self):
        return f"mqtt://{self.address}:{self.port}"

    def kill(self):
        self.program.kill()

    def start(self):
        starts = self.program.text.count(" running")
        self.program.start()
        wait_for("the broker's start", lambda: self.program.text.count(" running") > starts)


class Agent(Program):
    """`nfc-agent` with a virtual reader, whose tags are files in a folder."""

    def __init__(self, case, folder, broker_url, node="kiosk-7", *, lines=(), tables=(), namespace=None, environment=None,
                 state=None, reader="virtual"):
        self.node, self.folder = node, folder / node
        self.folder.mkdir()
        self.state = pathlib.Path(state or self.folder / "state")
        self.tags = self.folder / "tags"
        self.tags.mkdir()
        file = self.folder / "agent.toml"
        file.write_text("\n".join([
            f'node = "{node}"', f'broker = "{broker_url}"', "allow_plain = true", f'state_folder = "{self.state}"',
            f'tags = "{self.tags}"', "readers = []", "removal_delay_ms = 100", *lines,
            "[[reader]]", 'name = "entrance"', f'reader = "{reader}"', *tables, "",
        ]))
        file.chmod(0o600)
        self.file = file
        super().__init__(case, [built("nfc-agent"), "--config", file, "--json"], self.folder / "log", environment, namespace)

    def bring(self, number, message=b"", name=None):
        """Puts a tag onto the reader."""
        image = ntag213(number, message)
        hidden = self.tags / ".new"
        hidden.write_text(json.dumps(image))
        hidden.rename(self.tags / f"{name or number}.json")

    def remove(self, number):
        (self.tags / f"{number}.json").unlink()



def uid(number):
    return bytes([0x04, 0xE1, 0x5A, number & 0xFF, number >> 8, 0xFA, 0x80])


def ntag213(number, message=b""):
    """The image of an NTAG213, as from the factory (NXP's data sheet, 8.5), with a message."""
    serial = uid(number)
    check = 0x88 ^ serial[0] ^ serial[1] ^ serial[2]
    check2 = serial[3] ^ serial[4] ^ serial[5] ^ serial[6]
    memory = bytearray(180)
    memory[0:10] = serial[:3] + bytes([check]) + serial[3:] + bytes([check2, 0x48])
    memory[12:16] = bytes([0xE1, 0x10, 0x12, 0x00])
    memory[16:21] = bytes([0x01, 0x03, 0xA0, 0x0C, 0x34])
    value = bytes([0x03, len(message)]) + message + b"\xfe"
    memory[21:21 + len(value)] = value
    memory[160:164] = bytes([0x00, 0x00, 0x00, 0xBD])
    memory[164:172] = bytes([0x04, 0x00, 0x00, 0xFF, 0x00, 0x00, 0x00, 0x00])
    memory[172:176] = b"\xff\xff\xff\xff"
    return {"type": "T2T", "product": "NTAG213", "uid": serial.hex(), "pages": 45, "memory_hex": memory.hex()}


def link(text):
    """A message with a link, which begins with https://."""
    payload = b"\x04" + text.removeprefix("https://").encode()
    return bytes([0xD1, 0x01, len(payload), 0x55]) + payload


def text_message(text):
    payload = b"\x02en" + text.encode()
    return bytes([0xD1, 0x01, len(payload), 0x54]) + payload


class Listener:
    """A client that keeps what comes."""

    def __init__(self, case, broker, topics, prepare=None, name=""):
        self.messages = []
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=name)
        if prepare:
            prepare(self.client)
        self.client.on_message = lambda client, userdata, message: self.messages.append(message)
        self.refused = None
        ready = []

        def connected(client, userdata, flags, reason, properties):
            if reason.is_failure:
                self.refused = str(reason)
            elif not topics:
                ready.append(True)
            else:
                client.subscribe([(topic, 1) for topic in topics])
        self.client.on_connect = connected
        self.client.on_subscribe = lambda *_: ready.append(True)
        self.client.connect(broker.address, broker.port)
        self.client.loop_start()
        case.addCleanup(self.close)
        wait_for("a subscription", lambda: ready or self.refused)

    def events(self, kind=None):
        found = [json.loads(message.payload) for message in list(self.messages) if message.topic.endswith("/event")]
        return [event for event in found if kind is None or event["type"] == f"org.opencorenfc.{kind}"]

    def wait_for_event(self, kind, condition=lambda event: True, seconds=20):
        return wait_for(f"an event {kind}", lambda: next(filter(condition, self.events(kind)), None), seconds)

    def publish(self, topic, payload, retain=False):
        text = payload if isinstance(payload, (bytes, str)) else json.dumps(payload)
        self.client.publish(topic, text, qos=1, retain=retain).wait_for_publish(10)

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()


class Consumer(Program):
    def __init__(self, case, folder, broker_url, database, *arguments, namespace=None, patience=2, name="consumer"):
        super().__init__(case, [
            sys.executable, FLEET / "Consumer" / "consumer.py", "--broker", broker_url, "--allow-plain", "--database", database.address,
            "--client", name, "--replay-after", str(patience), *arguments,
        ], folder / f"{name}.log", namespace=namespace)
        self.wait_for_line("Ready")


class Load(Program):
    """Many nodes in one process, with a spool each."""

    def __init__(self, case, folder, broker_url, *, nodes=20, first=0, rate=100, seconds=5, patience=60, namespace=None, state=None):
        self.state = pathlib.Path(state or folder / f"load-{first}")
        self.state.mkdir(exist_ok=True)
        super().__init__(case, [
            built("fleet-load"), "--broker", broker_url, "--state", self.state, "--nodes", str(nodes), "--first", str(first),
            "--rate", str(rate), "--seconds", str(seconds), "--patience", str(patience),
        ], folder / f"load-{first}.log", namespace=namespace)


def spooled(folders):
    """The last number of each reader in spools, by (node, reader, stream)."""
    numbers = {}
    for folder in folders:
        for file in sorted(pathlib.Path(folder).rglob("spool.sqlite")):
            with sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10) as spool:
                stream = spool.execute("SELECT value FROM setting WHERE name = 'stream'").fetchone()[0]
                # The last number is in the row of its event, while that is there.
                for node, reader, last in spool.execute("""
                    SELECT node.name, reader.name, max(reader.sequence, ifnull(max(event.sequence), 0)) AS last
                    FROM reader JOIN node ON node.number = reader.node LEFT JOIN event ON event.reader = reader.number
                    GROUP BY reader.number HAVING last > 0
                """):
                    numbers[node, reader, stream] = last
            spool.close()
    return numbers


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = make_folder(self)

    def assert_all_stored(self, database, folders, seconds=60):
        """Every number that a spool has given is in the table, once. Returns how many."""
        numbers = spooled(folders)
        total = sum(numbers.values())
        self.assertGreater(total, 0)

        def everything():
            try:
                return database.value("SELECT count(*) FROM fleet.event") >= total
            except Exception:
                database.close()
                return False
        try:
            wait_for("the last event in the table", everything, seconds, 0.2)
        except AssertionError:
            missing = database.run("SELECT node, reader, first, last, state, attempts FROM fleet.gap LIMIT 5")
            stored = database.value("SELECT count(*) FROM fleet.event")
            raise AssertionError(f"{total - stored} of {total} events are lost, such as {missing}") from None
        rows = database.run("""
            SELECT node, reader, stream, count(*), count(DISTINCT sequence), min(sequence), max(sequence)
            FROM fleet.event GROUP BY node, reader, stream
        """)
        self.assertEqual({(n, r, s): (count, count, 1, count) for (n, r, s), count in numbers.items()},
                         {(n, r, s): (count, distinct, low, high) for n, r, s, count, distinct, low, high in rows})
        self.assertEqual(database.value("SELECT count(*) FROM fleet.gap"), 0)
        self.assertEqual(database.value("SELECT count(*) FROM fleet.rejected"), 0)
        return total


class KillingCase(Case):
    """A test that kills programs at random moments, with a broker and a database."""

    def setUp(self):
        super().setUp()
        self.broker = Broker(self, self.folder)
        self.database = Database(self)
        self.random = random.Random(21)


def figure(text):
    """Prints a figure, which the list of results shows."""
    print(f"figure: {text}", flush=True)
