# SPDX-License-Identifier: Apache-2.0
"""Agents are killed at random moments, and the disk is full: what was counted is in the table, and drops are said."""
import os
import subprocess
import time
import unittest

from support.place import Agent, Consumer, KillingCase, Load, figure, link, spooled
from support.programs import wait_for


class Killed(KillingCase):
    def test_agents_that_are_killed_at_random_moments(self):
        Consumer(self, self.folder, self.broker.url, self.database)
        load = Load(self, self.folder, self.broker.url, nodes=20, rate=400, seconds=60)
        for _ in range(6):
            load.wait_for_line("connected")
            time.sleep(self.random.uniform(0.3, 1.5))
            load.kill()
            load.log.write_text("")
            load.start()
        load.kill()
        end = Load(self, self.folder, self.broker.url, nodes=20, rate=0, seconds=0)
        self.assertEqual(end.ended(60), 0, end.text)
        total = self.assert_all_stored(self.database, [load.state])
        figure(f"20 nodes killed 7 times with kill -9: {total} events, 0 lost, 0 twice")

    def test_the_program_that_is_killed_at_random_moments(self):
        Consumer(self, self.folder, self.broker.url, self.database)
        agent = Agent(self, self.folder, self.broker.url)
        for number in range(1, 9):
            agent.bring(number, link(f"https://example.com/{number}"))
            time.sleep(self.random.uniform(0.1, 0.8))
            agent.kill()
            # What it has printed before says nothing about the next start.
            agent.log.write_text("")
            agent.start()
            if number % 2 == 0:
                agent.remove(number)
        agent.wait_for_line('"available"')
        agent.wait_for_line('"connected"')
        time.sleep(1)
        self.assertEqual(agent.stop(), 0, agent.text)
        total = self.assert_all_stored(self.database, [agent.state])
        figure(f"nfc-agent killed 8 times with kill -9: {total} events, 0 lost, 0 twice")

    def test_a_broker_that_is_away_and_a_restart_in_between(self):
        Consumer(self, self.folder, self.broker.url, self.database)
        agent = Agent(self, self.folder, self.broker.url)
        agent.wait_for_line('"available"')
        # It keeps the consumer's session, so the order shows.
        self.broker.program.stop()
        for number in (1, 2, 3):
            agent.bring(number, link(f"https://example.com/{number}"))
            wait_for("the event in the spool", lambda: sum(spooled([agent.state]).values()) >= number)
            agent.kill()
            agent.start()
        self.broker.start()
        wait_for("the first event", lambda: self.database.value("SELECT count(*) FROM fleet.event WHERE late") >= 3, 40)
        self.assertEqual(agent.stop(), 0)
        self.assert_all_stored(self.database, [agent.state])
        times = self.database.run("SELECT sequence, time FROM fleet.event WHERE reader = 'entrance' ORDER BY stored, sequence")
        self.assertEqual(times, sorted(times), "the order of a reader is kept")

    def test_a_second_agent_with_the_same_folder_is_refused(self):
        agent = Agent(self, self.folder, self.broker.url)
        agent.wait_for_line('"available"')
        second = subprocess.run(agent.arguments, capture_output=True, text=True, timeout=20)
        self.assertEqual(second.returncode, 1, second.stdout)

    def disk(self, megabytes):
        if os.geteuid() != 0:
            raise unittest.SkipTest("A small file system can only be mounted by root.")
        folder = self.folder / "disk"
        folder.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", folder], capture_output=True, text=True)
        if mounted.returncode != 0:
            raise unittest.SkipTest(f"A small file system can't be mounted: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", folder])
        return folder

    def fill(self, disk):
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 4096)
            except OSError:
                pass
        return filler

    def test_a_full_disk_loses_nothing_while_the_broker_is_there(self):
        disk = self.disk(6)
        Consumer(self, self.folder, self.broker.url, self.database)
        agent = Agent(self, self.folder, self.broker.url, state=disk / "state")
        agent.wait_for_line('"connected"')
        agent.bring(1, link("https://example.com/1"))
        filler = self.fill(disk)
        for number in range(2, 22):
            agent.bring(number, link(f"https://example.com/{number}"))
            time.sleep(0.4)
            agent.remove(number)
            time.sleep(0.3)
        tags = "SELECT count(*) FROM fleet.event WHERE type = 'org.opencorenfc.tag'"
        wait_for("all tags", lambda: self.database.value(tags) == 21, 20)
        problem = "SELECT body #>> '{problem}' FROM fleet.info"
        wait_for("the state", lambda: self.database.value(problem) == "spool-full", 20)
        filler.unlink()
        wait_for("the recovery", lambda: self.database.value(problem) is None, 30)
        agent.bring(22, link("https://example.com/22"))
        wait_for("a tag after that", lambda: self.database.value(tags) == 22, 20)
        self.assertEqual(self.database.value("SELECT count(*) FROM fleet.gap"), 0)
        self.assertEqual(agent.stop(), 0, agent.text)

    def full_disk(self, policy):
        disk = self.disk(6)
        Consumer(self, self.folder, self.broker.url, self.database)
        agent = Agent(self, self.folder, self.broker.url, state=disk / "state",
                      lines=["[spool]", "limit_mb = 64", f'policy = "{policy}"'])
        agent.wait_for_line('"available"')
        agent.bring(1, link("https://example.com/1"))
        wait_for("the first event", lambda: self.database.value("SELECT count(*) FROM fleet.event") == 1)
        self.broker.kill()
        filler = self.fill(disk)
        # Tags come and leave on a full disk, more than its reserve takes.
        for number in range(2, 8):
            agent.bring(number, link(f"https://example.com/{number}"))
            time.sleep(0.4)
            agent.remove(number)
            time.sleep(0.3)
        self.assertIsNone(agent.process.poll(), agent.text)
        filler.unlink()
        self.broker.start()
        agent.bring(9, link("https://example.com/9"))
        wait_for("the tag after that", lambda: self.database.value(
            "SELECT count(*) FROM fleet.event WHERE body #>> '{data,message,records,0,decoded,uri}' = 'https://example.com/9'"), 30)
        self.assertEqual(agent.stop(), 0, agent.text)
        last = spooled([disk])
        (node, reader, stream), count = next((key, value) for key, value in last.items() if key[1] == "entrance")

        def accounted():
            stored = self.database.value("SELECT count(*) FROM fleet.event WHERE reader = 'entrance'")
            dropped = self.database.value("SELECT coalesce(sum(count), 0) FROM fleet.gap WHERE reader = 'entrance' AND state = 'dropped'")
            return (int(stored), int(dropped)) if stored + dropped == count else None
        stored, dropped = wait_for("every number in the table or said to be dropped", accounted, 20)
        self.assertEqual(self.database.value("SELECT count(*) FROM fleet.gap WHERE state <> 'dropped'"), 0)
        figure(f"disk full, the {policy} go: {count} events, {stored} stored, {dropped} dropped and said to be")

    def test_a_disk_that_is_full_the_oldest_go(self):
        self.full_disk("oldest")

    def test_a_disk_that_is_full_the_newest_go(self):
        self.full_disk("newest")
