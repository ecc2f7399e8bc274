# SPDX-License-Identifier: Apache-2.0
"""The broker, the database and the consumer are killed during traffic: nothing is lost, and nothing is stored twice."""
import time

from support.place import Consumer, KillingCase, Listener, Load, figure
from support.programs import wait_for


class Killed(KillingCase):
    def test_a_broker_that_is_killed_during_traffic(self):
        Consumer(self, self.folder, self.broker.url, self.database)
        load = Load(self, self.folder, self.broker.url, nodes=20, rate=300, seconds=14)
        load.wait_for_line("connected")
        for _ in range(4):
            time.sleep(self.random.uniform(1, 2.5))
            self.broker.kill()
            time.sleep(self.random.uniform(0.2, 1))
            self.broker.start()
        total = self.assert_all_stored_at_the_end(load)
        again = self.database.value("SELECT count(*) FROM fleet.event WHERE late")
        figure(f"broker killed 4 times: {total} events, 0 lost, 0 twice; {again} late")

    def test_a_broker_that_forgets_everything(self):
        # Without its file a broker loses all that it had acknowledged, and every session.
        Consumer(self, self.folder, self.broker.url, self.database)
        load = Load(self, self.folder, self.broker.url, nodes=20, rate=300, seconds=8)
        load.wait_for_line("connected")
        for _ in range(2):
            time.sleep(2)
            self.broker.kill()
            for file in self.broker.folder.glob("mosquitto.db*"):
                file.unlink()
            self.broker.start()
        total = self.assert_all_stored_at_the_end(load)
        figure(f"broker lost its memory twice: {total} events, 0 lost, 0 twice")

    def assert_all_stored_at_the_end(self, load):
        self.assertEqual(load.ended(90), 0, load.text)
        # The same nodes, without new tags, answer the last requests for events that the broker has lost.
        again = Load(self, self.folder, self.broker.url, nodes=20, rate=0, seconds=60)
        again.wait_for_line("connected")
        return self.assert_all_stored(self.database, [load.state])

    def test_a_database_and_a_consumer_that_are_killed_during_traffic(self):
        consumer = Consumer(self, self.folder, self.broker.url, self.database)
        load = Load(self, self.folder, self.broker.url, nodes=20, rate=300, seconds=14)
        load.wait_for_line("connected")
        for _ in range(3):
            time.sleep(self.random.uniform(0.5, 2))
            self.database.kill()
            time.sleep(self.random.uniform(0.2, 1))
            self.database.start()
            time.sleep(self.random.uniform(0.5, 1.5))
            consumer.kill()
            consumer.start()
        total = self.assert_all_stored_at_the_end(load)
        figure(f"database and consumer killed 3 times: {total} events, 0 lost, 0 twice")

    def test_events_that_were_deleted_are_not_stored_again(self):
        Consumer(self, self.folder, self.broker.url, self.database)
        load = Load(self, self.folder, self.broker.url, nodes=2, rate=50, seconds=2)
        self.assertEqual(load.ended(60), 0, load.text)
        total = self.assert_all_stored(self.database, [load.state])
        self.assertEqual(self.database.value("SELECT fleet.forget(now() + interval '1 day')"), total)
        again = Load(self, self.folder, self.broker.url, nodes=2, rate=0, seconds=30)
        again.wait_for_line("connected")
        state = "opencorenfc/node-0/bridge/state"
        listener = Listener(self, self.broker, ["opencorenfc/+/+/event", state])
        # The node subscribes to requests before it says this.
        wait_for("the node", lambda: any(message.topic == state and message.payload == b"online" for message in list(listener.messages)))
        listener.publish("opencorenfc/node-0/bridge/replay", {"reader": "entrance", "from": 1, "to": 5})
        wait_for("the events again", lambda: len(listener.events()) == 5)
        time.sleep(1)
        self.assertEqual(self.database.value("SELECT count(*) FROM fleet.event"), 0)
