# SPDX-License-Identifier: Apache-2.0
"""What Home Assistant does with discovery and scans, written from its documented schema and its source.

The facts are those of homeassistant/components/mqtt: `tag.py`, `binary_sensor.py`, `schemas.py`, `config.py`, `util.py`,
`discovery.py` (2024.12): which keys a document may have, of which kind they are, which topics are documents, what a
template sees, and that a scan with an empty result is ignored. Keys that Home Assistant would leave out are errors here.
"""
import json
import re

import jinja2
import jinja2.sandbox
import paho.mqtt.client as mqtt

DISCOVERY_TOPIC = re.compile(r"(?P<component>\w+)/(?:(?P<node>[a-zA-Z0-9_-]+)/)?(?P<object>[a-zA-Z0-9_-]+)/config")
ENTITY_CATEGORIES = {"config", "diagnostic"}
BINARY_CLASSES = {
    "battery", "battery_charging", "carbon_monoxide", "cold", "connectivity", "door", "garage_door", "gas", "heat", "light", "lock",
    "moisture", "motion", "moving", "occupancy", "opening", "plug", "power", "presence", "problem", "running", "safety", "smoke",
    "sound", "tamper", "update", "vibration", "window",
}


class Invalid(Exception):
    """A document that Home Assistant would refuse, or would not understand as it was meant."""


def _text(value):
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise Invalid(f"{value!r} is no text")


def _topic(value):
    """A topic to subscribe to: valid_subscribe_topic."""
    _text(value)
    if not 0 < len(value.encode()) <= 65535 or "\0" in value:
        raise Invalid(f"{value!r} is no topic")
    for index, level in enumerate(levels := value.split("/")):
        if ("+" in level and level != "+") or ("#" in level and (level != "#" or index != len(levels) - 1)):
            raise Invalid(f"{value!r} has a wild card in a wrong place")


def _template(value):
    _text(value)
    try:
        jinja2.sandbox.ImmutableSandboxedEnvironment().parse(value)
    except jinja2.TemplateError as error:
        raise Invalid(f"the template is wrong: {error}") from None


def _choice(choices):
    def check(value):
        if value not in choices:
            raise Invalid(f"{value!r} is not one of {sorted(choices)}")
    return check


def _boolean(value):
    if not isinstance(value, bool):
        raise Invalid(f"{value!r} is not true or false")


def _count(value):
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Invalid(f"{value!r} is no number")


def _url(value):
    _text(value)
    if not re.match(r"(?:https?|homeassistant)://[^/]", value):
        raise Invalid(f"{value!r} is no address")


def _list(check):
    def each(value):
        for item in value if isinstance(value, list) else [value]:
            check(item)
    return each


def _pair(value):
    if not isinstance(value, list) or len(value) != 2:
        raise Invalid(f"{value!r} is no pair")
    for item in value:
        _text(item)


def _object(schema, required=()):
    def check(value):
        if not isinstance(value, dict):
            raise Invalid(f"{value!r} is no object")
        for key in required:
            if key not in value:
                raise Invalid(f"{key} is missing")
        for key, item in value.items():
            if key not in schema:
                raise Invalid(f"{key} is not known")
            try:
                schema[key](item)
            except Invalid as error:
                raise Invalid(f"{key}: {error}") from None
    return check


DEVICE = {
    "identifiers": _list(_text), "connections": _list(_pair), "manufacturer": _text, "model": _text, "model_id": _text, "name": _text,
    "hw_version": _text, "serial_number": _text, "sw_version": _text, "via_device": _text, "suggested_area": _text,
    "configuration_url": _url,
}


def _device(value):
    _object(DEVICE)(value)
    if not value.get("identifiers") and not value.get("connections"):
        raise Invalid("the device has neither identifiers nor connections")


BASE = {"qos": _choice({0, 1, 2}), "encoding": _text, "device": _device}
ORIGIN = _object({"name": _text, "sw_version": _text, "support_url": _url}, ["name"])
AVAILABILITY = _list(_object(
    {"topic": _topic, "payload_available": _text, "payload_not_available": _text, "value_template": _template}, ["topic"]))
SCHEMAS = {
    "tag": _object({**BASE, "topic": _topic, "value_template": _template, "origin": ORIGIN}, ["topic"]),
    "binary_sensor": _object({
        **BASE, "state_topic": _topic, "value_template": _template, "name": _text, "unique_id": _text, "device_class": _choice(BINARY_CLASSES),
        "payload_on": _text, "payload_off": _text, "expire_after": _count, "off_delay": _count, "force_update": _boolean,
        "enabled_by_default": _boolean, "entity_category": _choice({"diagnostic"}), "icon": _text, "object_id": _text, "origin": ORIGIN,
        "json_attributes_topic": _topic, "json_attributes_template": _template,
        "availability_topic": _topic, "availability_template": _template, "payload_available": _text, "payload_not_available": _text,
        "availability": AVAILABILITY, "availability_mode": _choice({"all", "any", "latest"}),
    }, ["state_topic"]),
    "sensor": _object({
        **BASE, "state_topic": _topic, "value_template": _template, "name": _text, "unique_id": _text, "expire_after": _count,
        "force_update": _boolean, "enabled_by_default": _boolean, "entity_category": _choice({"diagnostic"}), "icon": _text,
        "object_id": _text, "origin": ORIGIN, "json_attributes_topic": _topic, "json_attributes_template": _template,
        "availability_topic": _topic, "availability_template": _template, "payload_available": _text, "payload_not_available": _text,
        "availability": AVAILABILITY, "availability_mode": _choice({"all", "any", "latest"}),
    }, ["state_topic"]),
}


def check(component, document):
    """Checks a document. Raises `Invalid`."""
    if component not in SCHEMAS:
        raise Invalid(f"{component} is no component")
    SCHEMAS[component](document)
    if "availability" in document and "availability_topic" in document:
        raise Invalid("availability and availability_topic are both there")
    if component in ("binary_sensor", "sensor"):
        if "device" in document and "unique_id" not in document:
            raise Invalid("an entity with a device needs a unique_id")
        # A name that begins with the device's would be shown twice.
        name, device = document.get("name"), document.get("device", {}).get("name")
        if name and device and name.lower().startswith(device.lower()):
            raise Invalid("the name repeats the device's name")


class HomeAssistant:
    """Subscribes as Home Assistant does: finds scanners and sensors by discovery, and notes each scan."""

    def __init__(self, case, broker, prefix="homeassistant", prepare=None):
        self.prefix, self.documents, self.problems, self.scans, self.states = prefix, {}, [], [], {}
        self.environment = jinja2.sandbox.ImmutableSandboxedEnvironment(undefined=jinja2.ChainableUndefined)
        self.scanners, self.sensors = {}, {}
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        if prepare:
            prepare(self.client)
        self.client.on_connect = lambda *_: self.client.subscribe(f"{prefix}/#")
        self.client.on_message = self._message
        self.client.connect(broker.address, broker.port)
        self.client.loop_start()
        case.addCleanup(self.close)

    def birth(self):
        """Says that Home Assistant has started."""
        self.client.publish(f"{self.prefix}/status", "online").wait_for_publish(10)

    def _message(self, client, userdata, message):
        try:
            if message.topic.startswith(self.prefix + "/"):
                self._discover(message)
            for key, (topic, template) in list(self.scanners.items()):
                if topic == message.topic:
                    result = self._render(template, message.payload).strip()
                    if result:
                        self.scans.append((key, result))
            self.states[message.topic] = message.payload.decode()
        except Exception as error:  # noqa: BLE001 - the test reports it.
            self.problems.append(f"{message.topic}: {error!r}")

    def _discover(self, message):
        topic = message.topic.removeprefix(self.prefix + "/")
        match = DISCOVERY_TOPIC.fullmatch(topic)
        if not match:
            if topic != "status":
                raise Invalid(f"{message.topic} is no discovery topic")
            return
        component, key = match["component"], topic
        if not message.payload:
            # The document was cleared.
            self.documents.pop(key, None)
            return
        document = json.loads(message.payload)
        check(component, document)
        self.documents[key] = document
        if component == "tag":
            self.scanners[key] = (document["topic"], document.get("value_template"))
            self.client.subscribe(document["topic"])
        else:
            self.sensors[document["unique_id"]] = document
            for name in ("state_topic", "availability_topic"):
                if name in document:
                    self.client.subscribe(document[name], qos=1)

    def _render(self, template, payload):
        text = payload.decode()
        if template is None:
            return text
        try:
            value = {"value": text, "value_json": json.loads(text)}
        except ValueError:
            value = {"value": text}
        return self.environment.from_string(template).render(value)

    def state(self, unique_id):
        """`on`, `off` or `unavailable`, as Home Assistant would show it."""
        sensor = self.sensors.get(unique_id)
        if sensor is None:
            return None
        if "availability_topic" in sensor:
            if self.states.get(sensor["availability_topic"]) != sensor.get("payload_available", "online"):
                return "unavailable"
        state = self.states.get(sensor["state_topic"])
        return {sensor.get("payload_on", "ON"): "on", sensor.get("payload_off", "OFF"): "off"}.get(state, "unknown")

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()
