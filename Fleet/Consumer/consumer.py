#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stores the events of a fleet in PostgreSQL: each at least once sent, each exactly once stored.

A message is acknowledged only after the transaction with it was committed. One thread does everything, so an
acknowledgement can't get onto a later connection, where its number would be that of another message.
"""
import argparse
import logging
import os
import select
import signal
import socket
import stat
import sys
import time
import urllib.parse

import paho.mqtt.client as mqtt
import psycopg
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

import events
from store import Batch, Store

log = logging.getLogger("consumer")
WEEK = 7 * 86400
KEEPALIVE = 60


class Consumer:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.store = Store(options.database)
        self.batch = Batch()
        # What to acknowledge after the commit: message identifiers of this connection.
        self.owed: list[tuple[int, int]] = []
        self.stopping = False
        # Whether there is a socket, and whether the broker has accepted the connection on it.
        self.open = self.connected = False
        self.retry_at, self.pause = 0.0, 0.0
        self.database_at, self.database_pause = 0.0, 0.0
        self.ask_at = 0.0
        self.stored = 0
        self.client = self._client()

    def _client(self) -> mqtt.Client:
        options = self.options
        client = mqtt.Client(
            CallbackAPIVersion.VERSION2, client_id=options.client, protocol=mqtt.MQTTv5, manual_ack=True,
        )
        client.connect_timeout = 5
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        if options.tls:
            try:
                client.tls_set(ca_certs=options.ca, certfile=options.certificate, keyfile=options.key)
            except (OSError, ValueError) as error:
                files = ", ".join(filter(None, (options.ca, options.certificate, options.key)))
                sys.exit(f"The encryption can't be used with {files or 'the authorities of the system'}: {error}")
        if options.user is not None:
            client.username_pw_set(options.user, read_password(options.password_file))
        return client

    # The connection to the broker

    def _connect(self):
        properties = Properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = WEEK
        # The broker sends no more than this before the first commit: the memory that all of this takes.
        properties.ReceiveMaximum = self.options.batch
        self._forget()
        try:
            self.client.connect(
                self.options.host, self.options.port, keepalive=KEEPALIVE, clean_start=False, properties=properties,
            )
            self.open = True
        except (OSError, ValueError) as error:
            self._lose(f"{self.options.host}:{self.options.port} can't be reached: {error}")

    def _forget(self):
        # What was not acknowledged comes again. The rest of the batch is stored all the same.
        self.owed.clear()
        self.open = self.connected = False

    def _lose(self, reason: str):
        self._forget()
        self.pause = min(max(self.pause * 2, 0.2), 10)
        self.retry_at = time.monotonic() + self.pause
        log.warning("No connection to the broker. %s", reason)

    def _on_connect(self, client, userdata, flags, reason, properties):
        if reason.is_failure:
            return self._lose(f"It refuses: {reason}")
        self.connected, self.pause = True, 0.0
        log.info("Connected; the session is %s.", "kept" if flags.session_present else "new")
        root = self.options.root
        share = f"$share/{self.options.group}/" if self.options.group else ""
        client.subscribe([(f"{share}{root}/+/+/event", 1)] + [
            (f"{root}/+/+/{leaf}", 1) for leaf in ("position", "availability", "state", "info")
        ])

    def _on_subscribe(self, client, userdata, mid, reasons, properties):
        if any(reason.is_failure for reason in reasons):
            return self._lose("It does not allow this client to read.")
        log.info("Ready.")

    def _on_disconnect(self, client, userdata, flags, reason, properties):
        self._forget()

    def _on_message(self, client, userdata, message):
        self.owed.append((message.mid, message.qos))
        try:
            self._take(message)
        except events.Rejected as error:
            log.warning("A message on %r is left out: %s.", message.topic[:200], error)
            self.batch.reject(message.topic, str(error), message.payload)

    def _take(self, message):
        root = self.options.root
        at = events.place(root, message.topic)
        if at.leaf == "event":
            self.batch.events.append(events.parse(root, message.topic, message.payload))
        elif at.leaf == "position" and message.payload:
            stream, last, first = events.position(message.payload)
            self.batch.positions[at.node, at.reader, stream] = (last, first)
        elif at.leaf in ("availability", "state") and message.payload in (b"online", b"offline", b""):
            self.batch.states[at.node, at.reader] = message.payload.decode()
        elif at.leaf == "info" and message.payload:
            self.batch.infos[at.node] = events.info(message.payload)

    # The loop

    def run(self):
        while not self.stopping:
            if not self.open and time.monotonic() >= self.retry_at:
                self._connect()
            self._receive()
            if len(self.batch) or self.owed:
                self._save()
            self._ask()
        # Without a disconnection the broker keeps the session, and everything that was not acknowledged.
        if self.connected:
            self.client.disconnect()
            for _ in range(10):
                if self.client.socket() is None or not self.client.want_write():
                    break
                self.client.loop_write()
        self.store.close()

    def _receive(self):
        """Waits a short time, then reads what is there, up to one batch."""
        sock = self.client.socket()
        if not self.open or sock is None:
            self.open = False
            time.sleep(0.05)
            return
        # While the database is away, nothing more is read than what the broker has sent by itself.
        has_room = len(self.batch) < self.options.batch * 2
        reading = [sock] if has_room and not getattr(sock, "pending", int)() else []
        timeout = 0.5 if reading else 0.0 if has_room else 0.2
        try:
            readable, writable, _ = select.select(reading, [sock] if self.client.want_write() else [], [], timeout)
            result = mqtt.MQTT_ERR_SUCCESS
            if writable:
                result = self.client.loop_write()
            begin = time.monotonic()
            while result == mqtt.MQTT_ERR_SUCCESS and has_room and self.open:
                if len(self.owed) >= self.options.batch or time.monotonic() - begin > 0.5:
                    break
                if not getattr(sock, "pending", int)() and not select.select([sock], [], [], 0.002)[0]:
                    break
                result = self.client.loop_read()
            if result == mqtt.MQTT_ERR_SUCCESS:
                result = self.client.loop_misc()
        except (OSError, ValueError) as error:
            result = error
        if result != mqtt.MQTT_ERR_SUCCESS:
            self._lose(str(result) if isinstance(result, Exception) else mqtt.error_string(result))

    def _save(self):
        if time.monotonic() < self.database_at:
            return
        if len(self.batch):
            try:
                self.store.save(self.batch)
            except psycopg.Error as error:
                return self._wait_for_database(error)
            self.database_pause = 0.0
            self.stored += len(self.batch.events)
            self.batch = Batch()
        owed, self.owed = self.owed, []
        for identifier, qos in owed:
            self.client.ack(identifier, qos)

    def _wait_for_database(self, error: Exception):
        self.database_pause = min(max(self.database_pause * 2, 0.2), 10)
        self.database_at = time.monotonic() + self.database_pause
        log.warning("Nothing was stored, and nothing is acknowledged. %s", str(error).strip().split("\n")[0])

    def _ask(self):
        """Asks agents for events that are missing: a broker that is killed may lose what it has acknowledged."""
        now = time.monotonic()
        if not self.connected or now < self.ask_at or now < self.database_at or len(self.batch) or self.options.replay_after <= 0:
            return
        self.ask_at = now + min(self.options.replay_after, 5) / 2
        try:
            missing = self.store.missing(self.options.replay_after)
        except psycopg.Error as error:
            return self._wait_for_database(error)
        for node, reader, stream, first, last in missing:
            log.info("Asking %s/%s for the events %s to %s.", node, reader, first, last)
            request = f'{{"reader":"{reader}","stream":"{stream}","from":{first},"to":{last}}}'
            # With QoS 1 the library would keep requests, and send them when their answers have come long ago. One that is lost
            # is made again.
            self.client.publish(f"{self.options.root}/{node}/bridge/replay", request, qos=0)


def read_password(path: str | None) -> str | None:
    """The one line of a file that nobody else can read."""
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        status = os.fstat(file.fileno())
        if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid not in (0, os.geteuid()):
            sys.exit(f"Other users can read {path}. Run: chmod 600 {path}")
        return file.read().rstrip("\r\n")


def check_file(parser: argparse.ArgumentParser, option: str, path: str | None):
    """Ends the program when a file can't be read."""
    try:
        if path is not None:
            with open(path, "rb"):
                pass
    except OSError as error:
        parser.error(f"--{option.replace('_', '-')}: {path} can't be read: {error.strerror}")


def arguments(argv=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Store the events of a fleet in PostgreSQL.")
    parser.add_argument("--broker", required=True, metavar="URL", help="mqtts://HOST[:PORT]; mqtt:// to this machine")
    parser.add_argument("--allow-plain", action="store_true", help="allow mqtt:// to another machine")
    parser.add_argument("--ca", metavar="FILE", help="the broker's authority; default: those of the system")
    parser.add_argument("--certificate", metavar="FILE")
    parser.add_argument("--key", metavar="FILE")
    parser.add_argument("--user")
    parser.add_argument("--password-file", metavar="FILE", help="one line; mode 0600")
    parser.add_argument("--database", default="", metavar="DSN",
                        help="a connection string of libpq without a password; default: its environment variables")
    parser.add_argument("--root", default="opencorenfc", help="the first part of topics")
    parser.add_argument("--client", metavar="ID", help="the session's name at the broker; one for each consumer")
    parser.add_argument("--group", help="share the events with other consumers of this group")
    parser.add_argument("--batch", type=int, default=1000, metavar="N",
                        help="the maximum number of events in a transaction (1000)")
    parser.add_argument("--replay-after", type=float, default=10, metavar="S",
                        help="ask for missing events after this time without new ones (10); 0: never")
    options = parser.parse_args(argv)
    url = urllib.parse.urlsplit(options.broker)
    if url.scheme not in ("mqtt", "mqtts") or not url.hostname or url.path.strip("/") or url.username or url.password:
        parser.error("--broker is mqtts://HOST[:PORT]")
    options.tls = url.scheme == "mqtts"
    try:
        options.host, options.port = url.hostname, url.port or (8883 if options.tls else 1883)
    except ValueError:
        parser.error("The port in --broker is 1 to 65535.")
    if not options.tls and not options.allow_plain and options.host not in ("localhost", "127.0.0.1", "::1"):
        parser.error("mqtt:// is not encrypted. Use mqtts://, or --allow-plain.")
    for option in ("ca", "certificate", "key", "password_file"):
        check_file(parser, option, getattr(options, option))
    if not 1 <= options.batch <= 10000:
        parser.error("--batch is 1 to 10000")
    options.client = options.client or f"opencorenfc-consumer-{options.group or 'events'}-{socket.gethostname()}"
    return options


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    consumer = Consumer(arguments())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(consumer, "stopping", True))
    consumer.run()
    log.info("%d events were stored.", consumer.stored)


if __name__ == "__main__":
    main()
