# SPDX-License-Identifier: Apache-2.0
"""TLS with an authority of one's own, files with passwords, and the access rules: a node publishes under its own name alone."""
import json
import subprocess
import sys

from support.database import Database
from support.jobs import JOB_TOPIC, job
from support.place import Agent, Broker, Case, Consumer, Listener, link
from support.programs import FLEET, built, wait_for


def make_certificates(folder, *names):
    subprocess.run([FLEET / "Examples" / "mosquitto" / "make-certificates", folder, *names], check=True, capture_output=True)
    return folder


def example_settings(certificates, skip=()):
    """The lines of the example, with the paths of a test."""
    paths = {"cafile": certificates / "ca.pem", "certfile": certificates / "broker.pem", "keyfile": certificates / "broker.key",
             "acl_file": FLEET / "mosquitto" / "acl.conf"}
    lines = []
    for line in (FLEET / "Examples" / "mosquitto" / "opencorenfc.conf").read_text().splitlines():
        key = line.split(" ")[0]
        if key.startswith("#") or key in ("", "listener", "max_inflight_messages", "autosave_interval", *skip):
            continue
        lines.append(f"{key} {paths[key]}" if key in paths else line)
    # `per_listener_settings` comes first, before the listener.
    return [line for line in lines if not line.startswith("per_listener_settings")]


class Access(Case):
    def setUp(self):
        super().setUp()
        self.certificates = make_certificates(self.folder / "certificates", "kiosk-7", "kiosk-8", "store", "operator", "homeassistant")
        self.broker = Broker(self, self.folder, settings=example_settings(self.certificates))
        self.url = f"mqtts://127.0.0.1:{self.broker.port}"

    def identity(self, name, authority=None):
        folder = self.certificates

        def prepare(client):
            client.tls_set(str(authority or folder / "ca.pem"), str(folder / f"{name}.pem"), str(folder / f"{name}.key"))
        return prepare

    def listener(self, name, *topics):
        return Listener(self, self.broker, topics, self.identity(name), name=f"test-{name}")

    def tls(self, name, authority=None, certificate=None):
        folder = certificate or self.certificates
        return ["[tls]", f'ca = "{authority or self.certificates / "ca.pem"}"', f'certificate = "{folder / name}.pem"', f'key = "{folder / name}.key"']

    def test_nodes_with_certificates_reach_the_table(self):
        database = Database(self)
        files = self.certificates
        Consumer(self, self.folder, self.url, database, "--ca", files / "ca.pem", "--certificate", files / "store.pem", "--key", files / "store.key")
        agents = [Agent(self, self.folder, self.url, name, tables=self.tls(name)) for name in ("kiosk-7", "kiosk-8")]
        for number, agent in enumerate(agents, 1):
            agent.wait_for_line('"connected"')
            agent.bring(number, link(f"https://example.com/{number}"))
        wait_for("both events", lambda: database.value("SELECT count(DISTINCT node) FROM fleet.event") == 2)

    def test_a_node_can_not_publish_as_another(self):
        observer = self.listener("operator", "opencorenfc/#")
        thief = self.listener("kiosk-8")
        event = json.dumps({"specversion": "1.0"})
        for topic in ["opencorenfc/kiosk-7/entrance/event", "opencorenfc/kiosk-7/entrance/availability", "opencorenfc/kiosk-7/bridge/state",
                      "opencorenfc/kiosk-7/bridge/job", "opencorenfc/kiosk-8/bridge/job", "opencorenfc/kiosk-7/bridge/replay",
                      "homeassistant/tag/kiosk-7/entrance/config", "homeassistant/status", "opencorenfc/kiosk-8/a/b/event"]:
            thief.client.publish(topic, event, qos=1)
        thief.publish("opencorenfc/kiosk-8/entrance/event", event)
        # It was sent last, so another one would have come before it.
        wait_for("the node's own event", lambda: observer.messages)
        self.assertEqual([message.topic for message in observer.messages], ["opencorenfc/kiosk-8/entrance/event"])

    def test_a_node_can_not_read_the_jobs_and_events_of_another(self):
        thief = self.listener("kiosk-8", "opencorenfc/#", "opencorenfc/kiosk-7/bridge/job", "opencorenfc/+/+/event")
        owner = self.listener("kiosk-7", "opencorenfc/kiosk-7/bridge/job")
        operator = self.listener("operator")
        operator.publish(JOB_TOPIC.format("kiosk-7"), job())
        operator.publish(JOB_TOPIC.format("kiosk-8"), job(node="kiosk-8"))
        owner.publish("opencorenfc/kiosk-7/entrance/event", "{}")
        # It is sent last, so what is foreign would have come before it.
        operator.publish(JOB_TOPIC.format("kiosk-8"), job(node="kiosk-8"))
        wait_for("the owner's job", lambda: owner.messages)
        wait_for("the other's own jobs", lambda: len(thief.messages) >= 2)
        self.assertEqual({message.topic for message in thief.messages}, {"opencorenfc/kiosk-8/bridge/job"})

    def test_the_consumer_can_not_send_jobs(self):
        store = self.listener("store")
        owner = self.listener("kiosk-7", "opencorenfc/kiosk-7/bridge/+")
        store.client.publish(JOB_TOPIC.format("kiosk-7"), "{}", qos=1)
        store.publish("opencorenfc/kiosk-7/bridge/replay", "{}")
        # It was sent last, so the job would have come before it.
        wait_for("the request", lambda: owner.messages)
        self.assertEqual([message.topic for message in owner.messages], ["opencorenfc/kiosk-7/bridge/replay"])

    def failing(self, tables, url=None):
        """An agent that can't connect: what it says."""
        agent = Agent(self, self.folder, url or self.url, tables=tables)
        wait_for("the failure", lambda: '"disconnected"' in agent.text, 20)
        self.assertNotIn('"connected"', agent.text)
        self.assertIsNone(agent.process.poll())
        return agent.text

    def test_a_broker_of_another_authority_is_refused(self):
        other = make_certificates(self.folder / "other", "kiosk-7")
        self.assertIn('"broker-untrusted"', self.failing(self.tls("kiosk-7", authority=other / "ca.pem")))

    def test_a_certificate_of_another_authority_is_refused(self):
        other = make_certificates(self.folder / "other", "kiosk-7")
        self.failing(self.tls("kiosk-7", certificate=other))

    def test_a_broker_whose_certificate_has_another_name_is_refused(self):
        # The certificate is for localhost and 127.0.0.1.
        folder = self.folder / "second"
        folder.mkdir()
        broker = Broker(self, folder, settings=example_settings(self.certificates), address="127.0.0.2")
        self.assertIn('"broker-untrusted"', self.failing(self.tls("kiosk-7"), f"mqtts://127.0.0.2:{broker.port}"))

    def test_an_address_without_encryption_to_another_machine_is_refused(self):
        result = subprocess.run([built("nfc-agent"), "--broker", "mqtt://broker.example", "--check"], capture_output=True, text=True, timeout=20)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("mqtts", result.stdout + result.stderr)


class Passwords(Case):
    def setUp(self):
        super().setUp()
        passwords = self.folder / "passwords"
        passwords.touch()
        passwords.chmod(0o600)
        for name in ("kiosk-7", "kiosk-8", "operator", "store"):
            subprocess.run(["mosquitto_passwd", "-b", passwords, name, f"secret of {name}"], check=True, capture_output=True)
        self.broker = Broker(self, self.folder, settings=[f"password_file {passwords}", f"acl_file {FLEET / 'mosquitto' / 'acl.conf'}"])

    def login(self, mode, text="secret of kiosk-7"):
        file = self.folder / "password"
        file.write_text(text + "\n")
        file.chmod(mode)
        return ["[login]", f'password_file = "{file}"']

    def test_a_password_from_a_file_that_only_its_owner_reads(self):
        agent = Agent(self, self.folder, self.broker.url, tables=self.login(0o600))
        agent.wait_for_line('"connected"')

    def test_a_password_file_that_others_can_read_is_refused(self):
        for mode in (0o644, 0o640, 0o604):
            with self.subTest(oct(mode)):
                agent = Agent(self, self.folder, self.broker.url, f"kiosk-{mode}", tables=self.login(mode))
                self.assertEqual(agent.ended(10), 2, agent.text)
                self.assertIn("chmod 600", agent.text)
                self.assertNotIn("secret", agent.text)

    def test_the_consumer_reads_its_password_from_such_a_file_too(self):
        database, file = Database(self), self.folder / "store"
        file.write_text("secret of store\n")
        words = ["--user", "store", "--password-file", file]
        for mode in (0o644, 0o640, 0o604, 0o620):
            with self.subTest(oct(mode)):
                file.chmod(mode)
                refused = subprocess.run([sys.executable, FLEET / "Consumer" / "consumer.py", "--broker", self.broker.url, *words],
                                         capture_output=True, text=True, timeout=20)
                self.assertEqual(refused.returncode, 1, refused.stderr)
                self.assertIn("chmod 600", refused.stderr)
                self.assertNotIn("secret", refused.stderr)
        file.chmod(0o600)
        Consumer(self, self.folder, self.broker.url, database, *words)

    def test_the_consumer_names_a_file_or_a_port_that_can_not_be_used(self):
        missing = str(self.folder / "none")
        for words, named in [
            (["--broker", "mqtts://localhost", "--ca", missing], f"--ca: {missing}"), (["--broker", "mqtt://localhost:99999"], "--broker"),
            (["--broker", "mqtt://localhost", "--password-file", missing], f"--password-file: {missing}"),
            (["--broker", "mqtts://localhost", "--ca", __file__], __file__),
        ]:
            with self.subTest(words=words):
                refused = subprocess.run([sys.executable, FLEET / "Consumer" / "consumer.py", *words], capture_output=True, text=True, timeout=20)
                self.assertIn(refused.returncode, (1, 2))
                self.assertIn(named, refused.stderr)
                self.assertNotIn("Traceback", refused.stderr)

    def test_a_wrong_password_is_refused_and_not_printed(self):
        agent = Agent(self, self.folder, self.broker.url, tables=self.login(0o600, "wrong word"))
        wait_for("the refusal", lambda: '"disconnected"' in agent.text)
        self.assertNotIn('"connected"', agent.text)
        self.assertNotIn("wrong word", agent.text)
