# SPDX-License-Identifier: Apache-2.0
"""The link to the broker is cut, and slow: network namespaces of the test's own stand for two machines."""
import subprocess
import time
import unittest

from support.database import Database
from support.network import BROKER, Link, LinkUnavailable
from support.place import Agent, Broker, Case, Consumer, Load, figure, link
from support.programs import wait_for


class LinkTest(Case):
    def setUp(self):
        super().setUp()
        try:
            self.link = Link(self)
        except LinkUnavailable as error:
            raise unittest.SkipTest(str(error)) from error
        self.broker = Broker(self, self.folder, address=BROKER, namespace=self.link.far)
        self.database = Database(self)
        Consumer(self, self.folder, self.broker.url, self.database, namespace=self.link.far)

    def test_a_link_that_is_cut_during_traffic(self):
        load = Load(self, self.folder, self.broker.url, nodes=20, rate=200, seconds=12, namespace=self.link.near)
        load.wait_for_line("connected")
        for _ in range(3):
            time.sleep(1.5)
            self.link.cut()
            time.sleep(1.5)
            self.link.mend()
        self.assertEqual(load.ended(90), 0, load.text)
        total = self.assert_all_stored(self.database, [load.state])
        figure(f"link cut 3 times: {total} events, 0 lost, 0 twice")

    def test_a_link_that_is_cut_when_an_agent_is_killed(self):
        agent = Agent(self, self.folder, self.broker.url, namespace=self.link.near)
        agent.wait_for_line('"connected"')
        self.link.cut()
        agent.bring(1, link("https://example.com/1"))
        time.sleep(1)
        agent.kill()
        agent.start()
        time.sleep(1)
        self.link.mend()
        wait_for("the event of the time without a link", lambda: self.database.value(
            "SELECT count(*) FROM fleet.event WHERE type = 'org.opencorenfc.tag' AND late") >= 1, 40)
        self.assertEqual(agent.stop(), 0)
        self.assert_all_stored(self.database, [agent.state])

    def test_a_slow_link_delays_events_and_loses_none(self):
        slow = subprocess.run(["ip", "netns", "exec", self.link.near, "tc", "qdisc", "add", "dev", "fleet", "root", "tbf", "rate", "256kbit", "burst",
                               "8kb", "latency", "400ms"], capture_output=True, text=True)
        if slow.returncode != 0:
            self.skipTest(f"A link can't be made slow here: {slow.stderr.strip()}")
        # More than goes over the link: what does not fit waits in the spools.
        load = Load(self, self.folder, self.broker.url, nodes=20, rate=60, seconds=8, namespace=self.link.near)
        self.assertEqual(load.ended(90), 0, load.text)
        total = self.assert_all_stored(self.database, [load.state])
        late = self.database.value("SELECT max(stored - time) FROM fleet.event")
        figure(f"256 kbit/s: {total} events, 0 lost, 0 twice; the last waited {late.total_seconds():.1f} s")
