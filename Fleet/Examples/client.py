#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Watches the events of a fleet: client.py HOST. Writes a link to the next tag of a node: client.py HOST NODE URL."""
import datetime
import json
import sys
import uuid

import paho.mqtt.client as mqtt  # pip install 'paho-mqtt>=2'

host, _, port = sys.argv[1].partition(":")
node, url = sys.argv[2:] if len(sys.argv) == 4 else (None, None)
job = str(uuid.uuid4())


def connected(client, userdata, flags, reason, properties):
    client.subscribe("opencorenfc/+/+/event", qos=1)
    if node:
        deadline = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=1)
        client.publish(f"opencorenfc/{node}/bridge/job", qos=1, payload=json.dumps({
            "id": job, "node": node, "kind": "write", "deadline": deadline.strftime("%Y-%m-%dT%H:%M:%SZ"), "message": {"link": url},
        }))


def received(client, userdata, message):
    # Anything may come, and a tag's text is the text of a stranger: ascii() also shows what is invisible.
    try:
        event = json.loads(message.payload)
        data = event["data"]
        words = event["time"], data["node"], data["reader"], event["type"].rsplit(".", 1)[-1], data.get("uid", "")
        print(*(ascii(word).strip("'") for word in words), flush=True)
        for record in data.get("message", {}).get("records", []):
            print("  ", ascii(record.get("decoded")), flush=True)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return print("Not an event:", ascii(message.payload[:60]), flush=True)
    if data.get("job") == job:
        print("  ", ascii(data.get("outcome")), ascii(data.get("code", "")), flush=True)
        client.disconnect()


client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
client.on_connect, client.on_message = connected, received
if port == "8883":
    client.tls_set()  # tls_set("ca.pem", "me.pem", "me.key") with an authority and a certificate of your own
client.connect(host, int(port or 1883))
client.loop_forever()
