# SPDX-License-Identifier: Apache-2.0
"""From a tag to Home Assistant, to PostgreSQL and to the page."""
import datetime
import json
import subprocess
import sys
import urllib.error
import urllib.request

from support import homeassistant
from support.database import Database
from support.homeassistant import HomeAssistant
from support.place import Agent, Broker, Case, Consumer, Listener, link, text_message, uid
from support.programs import FLEET, Program, free_port, wait_for


class Events(Case):
    def setUp(self):
        super().setUp()
        self.broker = Broker(self, self.folder)
        self.database = Database(self)
        self.consumer = Consumer(self, self.folder, self.broker.url, self.database)

    def agent(self, *arguments, **more):
        agent = Agent(self, self.folder, self.broker.url, *arguments, **more)
        agent.wait_for_line('"available"')
        return agent

    def count(self, kind):
        return self.database.value("SELECT count(*) FROM fleet.event WHERE type = %s", f"org.opencorenfc.{kind}")

    def test_a_tag_arrives_in_home_assistant_and_in_the_table(self):
        home = HomeAssistant(self, self.broker)
        agent = self.agent()
        wait_for("the scanner", lambda: home.scanners)
        wait_for("the sensor", lambda: home.state("opencorenfc/kiosk-7/entrance") == "on")
        agent.bring(1, link("https://example.com/a"))
        wait_for("the scan", lambda: home.scans)
        wait_for("the event in the table", lambda: self.count("tag") == 1)
        agent.remove(1)
        wait_for("the removal in the table", lambda: self.count("removed") == 1)
        # A tag with a link of Home Assistant has the id of the link.
        agent.bring(2, link("https://www.home-assistant.io/tag/f0ae2f5c-9d1d"))
        wait_for("the second scan", lambda: len(home.scans) == 2)
        self.assertEqual([scan for _, scan in home.scans], [uid(1).hex("-").upper(), "f0ae2f5c-9d1d"])
        self.assertEqual(home.problems, [])
        self.assertEqual({key.split("/")[0] for key in home.documents}, {"tag", "binary_sensor", "sensor"})

        # The views.
        wait_for("the second tag", lambda: self.count("tag") == 2)
        self.assertEqual(self.database.run("SELECT tag, node, reader, product FROM fleet.last_seen ORDER BY tag")[0],
                         (uid(1).hex(), "kiosk-7", "entrance", "NTAG213"))
        today = datetime.datetime.now(datetime.timezone.utc).date()
        self.database.run("SET TIME ZONE 'UTC'")
        self.assertEqual(self.database.run("SELECT * FROM fleet.per_day"), [(today, "kiosk-7", "entrance", 2, 2)])
        durations = self.database.run("SELECT tag, duration FROM fleet.dwell ORDER BY came")
        self.assertGreater(durations[0][1], datetime.timedelta(milliseconds=1))
        self.assertEqual(durations[1], (uid(2).hex(), None))
        self.assertEqual(self.database.run("SELECT node, reader, works, missing FROM fleet.node_state"), [("kiosk-7", "entrance", True, 0)])

        # Killed, the agent's will makes the sensor unavailable.
        agent.kill()
        wait_for("the will", lambda: home.state("opencorenfc/kiosk-7/entrance") == "unavailable")
        self.assertEqual(home.state("opencorenfc/kiosk-7"), "off")
        wait_for("the state in the table", lambda: self.database.value("SELECT agent FROM fleet.node_state") == "offline")

    def test_home_assistant_that_starts_later_is_told_everything_again(self):
        self.agent()
        home = HomeAssistant(self, self.broker)
        wait_for("the retained documents", lambda: len(home.documents) == 4)
        before = len(home.documents)
        # Somebody has removed the documents from the broker.
        for topic in list(home.documents):
            home.client.publish(f"homeassistant/{topic}", b"", qos=1, retain=True).wait_for_publish(10)
        home.documents.clear()
        home.problems.clear()
        home.birth()
        wait_for("the documents again", lambda: len(home.documents) == before)

    def test_a_late_event_is_no_scan(self):
        agent = self.agent()
        home = HomeAssistant(self, self.broker)
        wait_for("the scanner", lambda: home.scanners)
        self.broker.kill()
        agent.bring(1, link("https://example.com/a"))
        wait_for("the tag in the spool", lambda: self.spool_count(agent) == 1)
        self.broker.start()
        wait_for("the event in the table", lambda: self.count("tag") == 1, 40)
        self.assertTrue(self.database.value("SELECT late FROM fleet.event"))
        self.assertEqual(home.scans, [])

    def spool_count(self, agent):
        from support.place import spooled
        return sum(spooled([agent.state]).values())

    def test_documents_that_home_assistant_would_refuse_are_found(self):
        for component, document in [
            ("tag", {}), ("tag", {"topic": "a/#/b"}), ("tag", {"topic": "a", "availability_topic": "b"}),
            ("tag", {"topic": "a", "value_template": "{{ value"}), ("tag", {"topic": "a", "device": {"name": "x"}}),
            ("binary_sensor", {"state_topic": "a", "device_class": "tag"}), ("binary_sensor", {"unique_id": "a"}),
            ("binary_sensor", {"state_topic": "a", "entity_category": "config"}), ("light", {"topic": "a"}),
        ]:
            with self.subTest(document=document), self.assertRaises(homeassistant.Invalid):
                homeassistant.check(component, document)

    def test_the_page_shows_a_strangers_text_as_text(self):
        agent = self.agent()
        port = free_port()
        page = Program(self, [sys.executable, FLEET / "Consumer" / "page.py", "--port", str(port), "--database", self.database.address],
                       self.folder / "page.log")
        page.wait_for_line("http://127.0.0.1")
        agent.bring(1, text_message("<script>alert(1)</script>\u202egnp\u0000&\""))
        wait_for("the event in the table", lambda: self.count("tag") == 1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
            text, policy = answer.read().decode(), answer.headers["Content-Security-Policy"]
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt;⟨U+202E⟩gnp\ufffd&amp;&quot;", text)
        self.assertNotIn("<script", text)
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": "evil.example"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=10)
        self.assertEqual(refused.exception.code, 403)
        refused.exception.close()

    def test_messages_that_are_no_events_do_not_stop_the_others(self):
        listener = Listener(self, self.broker, [])
        good = {"specversion": "1.0", "id": "ab.r.1", "source": "/opencorenfc/n/r", "type": "org.opencorenfc.tag",
                "time": "2026-11-24T05:40:12.123Z", "late": False,
                "data": {"node": "n", "reader": "r", "stream": "ab", "sequence": 1, "uid": "04\u0000\ud800"}}
        for payload in [b"", b"\xff", b"[" * 100_000, b"null", b"{}", b'{"specversion":"1.0","data":NaN}',
                        json.dumps({**good, "id": "ab.r.2"}), json.dumps({**good, "source": "/opencorenfc/m/r"}),
                        json.dumps({**good, "time": "yesterday"}), json.dumps({**good, "type": "org.example.x"}),
                        json.dumps({**good, "time": "0001-01-01T00:00:00+23:59"})]:
            listener.publish("opencorenfc/n/r/event", payload)
        listener.publish("opencorenfc/n/r/event", json.dumps(good))
        wait_for("the good event", lambda: self.database.value("SELECT count(*) FROM fleet.event") == 1)
        self.assertEqual(self.database.value("SELECT tag FROM fleet.event"), "04\ufffd?")
        self.assertEqual(self.database.value("SELECT count(*) FROM fleet.rejected"), 11)

    def test_events_that_an_agent_says_it_has_dropped_are_not_waited_for(self):
        listener = Listener(self, self.broker, [])
        for number, more in [(1, {"uid": "04"}), (3, {"code": "events-dropped", "count": 1, "first": 2, "last": 2, "policy": "oldest"}),
                             (6, {"code": "events-dropped", "count": 2, "first": 4, "last": 5, "policy": "oldest"}), (8, {"uid": "04"})]:
            listener.publish("opencorenfc/n/r/event", json.dumps({
                "specversion": "1.0", "id": f"ab.r.{number}", "source": "/opencorenfc/n/r", "time": "2026-11-24T05:40:12.123Z", "late": False,
                "type": "org.opencorenfc.error" if "code" in more else "org.opencorenfc.tag",
                "data": {"node": "n", "reader": "r", "stream": "ab", "sequence": number, **more},
            }))
        wait_for("the events", lambda: self.database.value("SELECT count(*) FROM fleet.event") == 4)
        self.assertEqual(self.database.run("SELECT first, last, state FROM fleet.gap ORDER BY first"),
                         [(2, 2, "dropped"), (4, 5, "dropped"), (7, 7, "waiting")])

    def test_no_message_stops_a_view_or_the_page(self):
        port = free_port()
        page = Program(self, [sys.executable, FLEET / "Consumer" / "page.py", "--port", str(port), "--database", self.database.address],
                       self.folder / "page.log")
        page.wait_for_line("http://127.0.0.1")
        listener = Listener(self, self.broker, [])
        listener.publish("opencorenfc/n/bridge/state", "online")
        listener.publish("opencorenfc/n/bridge/info", json.dumps({"version": "1\0"}))
        # Texts with a NUL and with half a character, and times that no number can hold.
        for number, (kind, data) in enumerate([
            ("tag", {"uid": "04", "product": "a\0\ud800"}), ("outcome", {"job": "\0", "outcome": "done\0", "kind": "write\0"}),
            ("removed", {"tag_event": "ab.r.1", "duration_ms": "abc"}), ("removed", {"tag_event": "ab.r.1", "duration_ms": 10 ** 400}),
            ("removed", {"tag_event": "ab.r.1\0", "duration_ms": -1}), ("removed", {"tag_event": "ab.r.1", "duration_ms": 1500}),
        ], 1):
            listener.publish("opencorenfc/n/r/event", json.dumps({
                "specversion": "1.0", "id": f"ab.r.{number}", "source": "/opencorenfc/n/r", "time": "2026-11-24T05:40:12.123Z", "late": False,
                "type": f"org.opencorenfc.{kind}", "data": {"node": "n", "reader": "r", "stream": "ab", "sequence": number, **data},
            }))
        wait_for("the events", lambda: self.database.value("SELECT count(*) FROM fleet.event") == 6)
        wait_for("the node", lambda: self.database.run("SELECT version FROM fleet.node_state WHERE version IS NOT NULL") == [("1\ufffd",)])
        self.assertEqual(self.database.run("SELECT tag, product FROM fleet.last_seen"), [("04", "a\ufffd?")])
        self.assertEqual(self.database.run("SELECT job, kind, outcome FROM fleet.outcome"), [("\ufffd", "write\ufffd", "done\ufffd")])
        durations = self.database.run("SELECT extract(epoch FROM duration)::float FROM fleet.dwell ORDER BY 1")
        self.assertEqual(durations, [(1.5,), (None,), (None,)])
        for view in ("gap", "per_day"):
            self.database.run(f"SELECT * FROM fleet.{view}")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
            self.assertIn("after 1.5 s", answer.read().decode())

    def test_the_stream_that_an_agent_uses_is_asked_for(self):
        listener = Listener(self, self.broker, ["opencorenfc/n/bridge/replay"])

        def send(stream, *numbers):
            for number in numbers:
                listener.publish("opencorenfc/n/r/event", json.dumps({
                    "specversion": "1.0", "id": f"{stream}.r.{number}", "source": "/opencorenfc/n/r", "time": "2026-11-24T05:40:12.123Z",
                    "late": False, "type": "org.opencorenfc.tag",
                    "data": {"node": "n", "reader": "r", "stream": stream, "sequence": number, "uid": "04"},
                }))

        def gaps():
            return self.database.run("SELECT stream, first, last, state FROM fleet.gap ORDER BY stream, first")
        send("aa", 1, 3)
        wait_for("a gap", lambda: gaps() == [("aa", 2, 2, "waiting")])
        # Another agent of the same name, or a new spool.
        send("bb", 2)
        wait_for("the old stream's end", lambda: gaps() == [("aa", 2, 2, "gone"), ("bb", 1, 1, "waiting")])
        # The first one is back, and says where it is; then with an event that was stored before.
        listener.publish("opencorenfc/n/r/position", json.dumps({"stream": "aa", "sequence": 4, "first": 1}))
        wait_for("the old stream", lambda: gaps() == [("aa", 2, 2, "waiting"), ("aa", 4, 4, "waiting"), ("bb", 1, 1, "gone")])
        wait_for("a request", lambda: any(b'"stream":"aa"' in message.payload for message in listener.messages), 30)
        send("bb", 2)
        wait_for("the other stream", lambda: gaps()[-1] == ("bb", 1, 1, "waiting"))

    def test_the_client_of_thirty_lines_writes_a_tag(self):
        agent = self.agent()
        client = Program(self, [sys.executable, "-u", FLEET / "Examples" / "client.py", f"127.0.0.1:{self.broker.port}", "kiosk-7",
                                "https://example.com/t/{serial}"], self.folder / "client.log")
        listener = Listener(self, self.broker, ["opencorenfc/#"])
        wait_for("the job", lambda: any(message.topic.endswith("/job") for message in listener.messages))
        for payload in [b"x", b"5", b"{}", b'{"data":[]}', json.dumps({"time": "\x1b[2J", "type": "x", "data": {"node": 1, "reader": 2}})]:
            listener.publish("opencorenfc/n/r/event", payload)
        agent.bring(1)
        self.assertEqual(client.ended(20), 0, client.text)
        self.assertIn("done", client.text)
        self.assertNotIn("\x1b", client.text)
        self.assertEqual(client.text.count("Not an event:"), 4)
        wait_for("the outcome in the table", lambda: self.database.run("SELECT node, kind, outcome, tag FROM fleet.outcome")
                 == [("kiosk-7", "write", "done", uid(1).hex())])

    def test_the_demonstration_once_shows_a_tag_a_removal_and_an_outcome(self):
        from support.programs import built
        result = subprocess.run([built("nfc-fleet"), "demo", "--once", "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        kinds = [json.loads(line)["type"] for line in result.stdout.splitlines()]
        self.assertEqual(sorted(set(kinds)), ["org.opencorenfc.outcome", "org.opencorenfc.removed", "org.opencorenfc.tag"])
