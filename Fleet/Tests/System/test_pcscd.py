# SPDX-License-Identifier: Apache-2.0
"""A tag on an emulated reader behind the real pcscd: its event in Home Assistant and in PostgreSQL, and a job that writes it."""
import json
import os
import shutil
import unittest

from support.database import Database
from support.homeassistant import HomeAssistant
from support.jobs import JOB_TOPIC, job
from support.place import Agent, Broker, Case, Consumer, Listener, link, ntag213, uid
from support.programs import Program, make_folder, wait_for


class Emulated(Case):
    def setUp(self):
        super().setUp()
        tool = os.environ["NFC_TOOL"]
        if not os.access(tool, os.X_OK):
            raise unittest.SkipTest(f"There is no {tool}. Build it with: swift build")
        if not shutil.which("pcscd"):
            raise unittest.SkipTest("There is no pcscd. Debian has it: apt-get install pcscd")
        sockets = make_folder(self)
        self.image = sockets / "tag.json"
        self.image.write_text(json.dumps(ntag213(1, link("https://example.com/poster"))))
        self.reader = Program(self, [tool, "emulate", "--image", self.image, "--pcsc", "--start-pcscd", "--folder", sockets, "--json", "--commands"],
                              self.folder / "emulate.log")
        self.reader.wait_for_line('"event":"ready"')
        self.addCleanup(self.reader.stop)
        ready = next(line for line in self.reader.lines() if line.get("event") == "ready")
        self.environment = {"PCSCLITE_CSOCK_NAME": ready["pcsclite_csock_name"]}
        self.broker = Broker(self, self.folder)
        self.database = Database(self)
        Consumer(self, self.folder, self.broker.url, self.database)

    def command(self, text):
        self.reader.process.stdin.write(f"{text}\n".encode())
        self.reader.process.stdin.flush()

    def test_from_a_reader_of_pcscd_to_home_assistant_and_the_table_and_back(self):
        self.command("remove")
        home = HomeAssistant(self, self.broker)
        listener = Listener(self, self.broker, ["opencorenfc/#"])
        agent = Agent(self, self.folder, self.broker.url, reader="pcsc", environment=self.environment)
        agent.wait_for_line('"available"')
        wait_for("the scanner", lambda: home.scanners)
        self.command("insert")
        wait_for("the scan", lambda: home.scans)
        self.assertEqual(home.scans[0][1], uid(1).hex("-").upper())
        self.assertEqual(home.problems, [])
        wait_for("the event in the table", lambda: self.database.run(
            "SELECT node, tag, product, body #>> '{data,message,records,0,decoded,uri}' FROM fleet.last_seen JOIN fleet.event USING (node, tag)")
            == [("kiosk-7", uid(1).hex(), "NTAG213", "https://example.com/poster")])
        self.command("remove")
        listener.wait_for_event("removed")

        # A job writes the tag when it comes again. Its bytes are in the emulation's image.
        writing = job(message={"link": "https://example.com/t/{serial}?u={uid}"})
        listener.publish(JOB_TOPIC.format("kiosk-7"), writing)
        wait_for("the job", lambda: "was received" in agent.text)
        self.command("insert")
        done = listener.wait_for_event("outcome")["data"]
        self.assertEqual((done["outcome"], done["tag_state"], done["serial"]), ("done", "written", 1))
        self.command("remove")
        wanted = f"example.com/t/1?u={uid(1).hex()}".encode().hex()
        wait_for("the link in the image", lambda: wanted in self.image.read_text())

    def test_a_tag_that_is_taken_away_in_the_middle_of_its_job(self):
        self.command("remove")
        listener = Listener(self, self.broker, ["opencorenfc/#"])
        agent = Agent(self, self.folder, self.broker.url, reader="pcsc", environment=self.environment)
        agent.wait_for_line('"available"')
        agent.wait_for_line('"connected"')
        listener.publish(JOB_TOPIC.format("kiosk-7"), job(seconds=6))
        wait_for("the job", lambda: "was received" in agent.text)
        # In one go, so that the tag is there and will be lost before it is read.
        self.command("insert\nremove-at-write 2")
        lost = listener.wait_for_event("outcome", seconds=30)["data"]
        self.assertEqual((lost["outcome"], lost["tag_state"]), ("tag-lost", "uncertain"))

    def test_every_reader_of_the_machine_is_found(self):
        file = self.folder / "agent.toml"
        agent = Agent(self, self.folder, self.broker.url, reader="pcsc", environment=self.environment)
        agent.kill()
        file.write_text(f'node = "kiosk-7"\nbroker = "{self.broker.url}"\nstate_folder = "{agent.state}"\nreaders = ["all"]\n')
        agent.arguments[2] = file
        agent.log.write_text("")
        agent.start()
        agent.wait_for_line('"available"')
        wait_for("its tag in the table", lambda: self.database.run("SELECT DISTINCT tag FROM fleet.event WHERE tag IS NOT NULL")
                 == [(uid(1).hex(),)])
        # Unplugged and plugged in again.
        self.command("unplug")
        agent.wait_for_line('"unavailable"')
        before = agent.text.count('"available"')
        self.command("plug")
        wait_for("the reader again", lambda: agent.text.count('"available"') > before, 30)
