# SPDX-License-Identifier: Apache-2.0
"""Reads a tag over a PN532 with nfcpy, writes a text to it and reads it back; prints one JSON object.

Usage: nfcpy_serial_peer.py DEVICE BITRATE TEXT    such as tty:pn532:pn532 106A Hello
"""
import json
import sys

import ndef
import nfc
import nfc.clf


def message(tag):
    return b"".join(ndef.message_encoder(tag.ndef.records)).hex()


device, rate, text = sys.argv[1:]
front_end = nfc.ContactlessFrontend(device)
try:
    tag = nfc.tag.activate(front_end, front_end.sense(nfc.clf.RemoteTarget(rate)))
    result = {"type": tag.type, "identifier": tag.identifier.hex(), "before": message(tag)}
    tag.ndef.records = [ndef.TextRecord(text)]
    tag = nfc.tag.activate(front_end, front_end.sense(nfc.clf.RemoteTarget(rate)))
    result["after"] = message(tag)
finally:
    front_end.close()
print(json.dumps(result))
