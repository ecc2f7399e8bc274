# SPDX-License-Identifier: Apache-2.0
"""Jobs: one effect for one id, deadlines, signatures, and what a kill leaves."""
import time

from support.jobs import JOB_TOPIC, Key, job
from support.place import Agent, Broker, Case, Listener, link
from support.programs import wait_for


class Jobs(Case):
    def setUp(self):
        super().setUp()
        self.broker = Broker(self, self.folder)
        self.listener = Listener(self, self.broker, ["opencorenfc/#"])

    def agent(self, **more):
        agent = Agent(self, self.folder, self.broker.url, **more)
        agent.wait_for_line('"available"')
        agent.wait_for_line('"connected"')
        return agent

    def send(self, value):
        self.listener.publish(JOB_TOPIC.format("kiosk-7"), value)

    def outcome(self, value=None, repeated=False, seconds=20):
        event = self.listener.wait_for_event("outcome", lambda event: (
            value is None or event["data"].get("job") == value["id"]) and event["data"].get("repeated", False) == repeated, seconds)
        return event["data"]

    def outcomes(self, repeated):
        """The ids of their events: an event may come twice after a kill."""
        return {event["id"] for event in self.listener.events("outcome") if event["data"].get("repeated", False) == repeated}

    def refusal(self, message):
        before = len(self.listener.events("outcome"))
        self.send(message)
        events = wait_for("a refusal", lambda: self.listener.events("outcome")[before:])
        return events[0]["data"]

    def test_a_job_that_is_sent_twice_has_one_effect(self):
        agent = self.agent()
        first = job()
        self.send(first)
        self.send(first)
        wait_for("the job again", lambda: '"job-again"' in agent.text)
        agent.bring(1)
        done = self.outcome(first)
        self.assertEqual((done["outcome"], done["tag_state"], done["serial"]), ("done", "written", 1))
        # Again after its end, and again after a restart, with another tag near.
        self.send(first)
        self.assertEqual(self.outcome(first, repeated=True)["serial"], 1)
        agent.remove(1)
        agent.kill()
        agent.start()
        agent.bring(2)
        self.send(first)
        wait_for("the outcome again", lambda: len(self.outcomes(True)) == 2)
        second = job()
        self.send(second)
        wait_for("the second job", lambda: second["id"] in agent.text)
        agent.bring(3)
        # The second job has the next number, so nothing was written in between.
        self.assertEqual(self.outcome(second)["serial"], 2)
        self.assertEqual(len(self.outcomes(False)), 2)

    def test_a_job_whose_deadline_has_passed(self):
        agent = self.agent()
        early, waiting = job(seconds=-5), job(seconds=2)
        self.send(early)
        self.send(waiting)
        self.assertEqual(self.outcome(early)["outcome"], "expired")
        self.assertEqual(self.outcome(waiting)["outcome"], "expired")
        agent.bring(1, link("https://example.com/a"))
        tag = self.listener.wait_for_event("tag")
        self.assertEqual(tag["data"]["message"]["records"][0]["decoded"]["uri"], "https://example.com/a")

    def test_a_job_that_waits_outlives_a_kill_and_a_broker_that_is_away(self):
        agent = self.agent()
        waiting = job()
        self.send(waiting)
        wait_for("the job in the log", lambda: "was received" in agent.text)
        agent.kill()
        later = job()
        self.send(later)
        agent.start()
        wait_for("the later job", lambda: later["id"] in agent.text)
        agent.bring(1)
        self.assertEqual(self.outcome(waiting)["serial"], 1)
        agent.remove(1)
        agent.bring(2)
        self.assertEqual(self.outcome(later)["serial"], 2)

    def test_a_job_with_a_signature_that_is_missing_or_wrong_is_refused(self):
        key, stranger = Key(self.folder), Key(self.folder, "stranger")
        agent = self.agent(tables=["[[jobs.key]]", 'name = "ops"', f'public = "{key.public}"'])
        signed = key.sign(job())
        last = signed["signature"][0]
        refusals = {
            "unsigned": job(),
            "unknown-key": stranger.sign(job()),
            "bad-signature": stranger.sign(job(), key="ops"),
            "wrong-node": key.sign(job(node="kiosk-8")),
        }
        for code, message in refusals.items():
            with self.subTest(code):
                data = self.refusal(message)
                self.assertEqual((data["outcome"], data["code"]), ("refused", code))
        with self.subTest("a changed signature"):
            data = self.refusal({**signed, "signature": ("A" if last != "A" else "B") + signed["signature"][1:]})
            self.assertEqual(data["code"], "bad-signature")
        agent.bring(1, link("https://example.com/a"))
        self.listener.wait_for_event("tag")
        agent.remove(1)
        self.listener.wait_for_event("removed")
        # None of them has written the tag; a signed one does.
        good = job()
        self.send(key.sign(good))
        wait_for("the signed job", lambda: good["id"] in agent.text)
        agent.bring(2)
        self.assertEqual(self.outcome(good)["serial"], 1)
        # Sent again by somebody who has listened, it has no effect.
        self.send(key.sign(good))
        self.assertEqual(self.outcome(good, repeated=True)["outcome"], "done")

    def test_a_retained_job_and_one_that_is_no_job_do_nothing(self):
        self.listener.publish(JOB_TOPIC.format("kiosk-7"), job(), retain=True)
        agent = self.agent()
        agent.bring(1)
        self.listener.wait_for_event("tag")
        time.sleep(1)
        self.assertEqual([event for event in self.listener.events("outcome") if event["data"]["outcome"] == "done"], [])
        self.assertEqual(self.refusal("[]")["code"], "bad-job")

    def test_an_allow_list_answers_at_the_reader(self):
        agent = self.agent()
        self.send(allow := job("allow", mode="replace", uids=["04e15a0100fa80"]))
        self.assertEqual(self.outcome(allow)["outcome"], "done")
        agent.bring(1)
        agent.bring(2)
        answers = wait_for("both tags", lambda: {event["data"]["uid"]: event["data"]["allowed"] for event in self.listener.events("tag")}
                           if len(self.listener.events("tag")) == 2 else None)
        self.assertEqual(answers, {"04e15a0100fa80": True, "04e15a0200fa80": False})
