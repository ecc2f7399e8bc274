# SPDX-License-Identifier: Apache-2.0
"""Reads and writes a tag with nfcpy, and messages with ndeflib, by commands from standard input.

Usage: nfcpy_peer.py PORT BITRATE. Each line of input is a JSON object whose "do" names the command. Each gets one line
of JSON as its answer. The tag is behind nfcpy's own "udp" device, at PORT of the loopback interface. It is activated
again for every line, so that nfcpy keeps no state between two lines.
"""
import json
import sys

import ndef
import nfc
import nfc.clf
import nfc.clf.udp
import nfc.tag

# nfcpy's time limits are those of the air, and the tag's time is simulated: a busy machine must not look like a silent
# tag. So the other side says when the tag is silent, in a datagram that nfcpy by itself passes over.
PATIENCE = 20.0
SILENCE = "none"


class Device(nfc.clf.udp.Device):
    def _recv_data(self, timeout, *brty_list):
        brty, data, address = super()._recv_data(PATIENCE, SILENCE, *brty_list)
        if brty == SILENCE:
            raise nfc.clf.TimeoutError("the tag is silent")
        return brty, data, address


class Reader:
    def __init__(self, port, bitrate):
        self.bitrate = bitrate
        self.frontend = nfc.ContactlessFrontend()
        self.frontend.device = Device("127.0.0.1", port)

    def activate(self):
        """The tag, after the field was off."""
        self.frontend.device.mute()
        target = self.frontend.sense(nfc.clf.RemoteTarget(self.bitrate))
        if target is None:
            raise RuntimeError("no target was found")
        tag = nfc.tag.activate(self.frontend, target)
        if tag is None:
            raise RuntimeError("the target was not taken for a tag")
        return tag


def make_record(description):
    """A record of ndeflib from its description."""
    kind = description["kind"]
    if kind == "uri":
        return ndef.UriRecord(description["uri"])
    if kind == "text":
        return ndef.TextRecord(description["text"], description["language"])
    if kind == "poster":
        return ndef.SmartposterRecord(description["uri"], {t["language"]: t["text"] for t in description["titles"]})
    data = bytes.fromhex(description["data"])
    return ndef.Record(description["type"], description.get("name", ""), data)


def describe_record(record):
    """What ndeflib makes of a record."""
    if isinstance(record, ndef.UriRecord):
        return {"kind": "uri", "uri": record.iri}
    if isinstance(record, ndef.TextRecord):
        return {"kind": "text", "text": record.text, "language": record.language}
    if isinstance(record, ndef.SmartposterRecord):
        titles = [{"language": k, "text": v} for k, v in sorted(record.titles.items())]
        return {"kind": "poster", "uri": record.resource.iri, "titles": titles}
    return {"kind": "other", "type": record.type, "name": record.name, "data": bytes(record.data).hex()}


def encode(records):
    return b"".join(ndef.message_encoder(records))


def describe_message(data):
    """A message's records, and the message that they are encoded to again."""
    records = list(ndef.message_decoder(data, errors="strict")) if data else []
    return {"bytes": data.hex(), "records": [describe_record(r) for r in records],
            "again": encode(records).hex() if records else ""}


def describe_tag(tag):
    answer = {"type": tag.type, "product": tag.product, "identifier": tag.identifier.hex()}
    if tag.ndef is not None:
        answer |= {"capacity": tag.ndef.capacity, "readable": tag.ndef.is_readable, "writable": tag.ndef.is_writeable,
                   "message": describe_message(tag.ndef.octets)}
    return answer


def answer(reader, request):
    what = request["do"]
    if what == "decode":
        return {"message": describe_message(bytes.fromhex(request["bytes"]))}
    if what == "encode":
        return {"message": describe_message(encode([make_record(r) for r in request["records"]]))}
    tag = reader.activate()
    if what == "read":
        return describe_tag(tag)
    if what == "write":
        if tag.ndef is None:
            raise RuntimeError("there is no NDEF on the tag")
        tag.ndef.octets = bytes.fromhex(request["bytes"])
        return {}
    if what == "write-records":
        if tag.ndef is None:
            raise RuntimeError("there is no NDEF on the tag")
        tag.ndef.records = [make_record(r) for r in request["records"]]
        return {}
    if what == "format":
        return {"done": tag.format() is True}
    if what == "protect":
        return {"done": tag.protect() is True}
    raise ValueError(f"there is no '{what}'")


def main():
    # nfcpy prints here and there; only answers may get out.
    out, sys.stdout = sys.stdout, sys.stderr
    reader = Reader(int(sys.argv[1]), sys.argv[2])
    for line in sys.stdin:
        try:
            reply = {"ok": True} | answer(reader, json.loads(line))
        except Exception as error:  # Whatever it is, the other side has to hear of it.
            reply = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=out, flush=True)
    reader.frontend.device.mute()


main()
