# SPDX-License-Identifier: Apache-2.0
"""Does with a tag over a PN532 what nfcpy can beyond reading and writing a message; prints one JSON object.

Usage: nfcpy_command_peer.py DEVICE protect    sets a password for the pages from 4 on, and proves it
       nfcpy_command_peer.py DEVICE pages A=HEX B=HEX...    writes pages in this order, then page 8 twice: without
                                                            and with the password 01020304
       nfcpy_command_peer.py DEVICE topaz    reads, writes and sets blocks of a Topaz 512, and reads its segments
"""
import json
import sys

import nfc
import nfc.clf
import nfc.tag.tt1
import nfc.tag.tt2

PASSWORD = bytes.fromhex("01020304beef")


def activated(front_end):
    return nfc.tag.activate(front_end, front_end.sense(nfc.clf.RemoteTarget("106A")))


def writes(tag, page):
    """Whether a page takes a write."""
    try:
        return tag.write(page, b"\xca\xfe\xf0\x0d")
    except nfc.tag.tt2.Type2TagCommandError:
        return False


def protect(front_end):
    tag = activated(front_end)
    if not hasattr(tag, "_cfgpage"):
        # nfcpy 1.0.4 has protect() for Ultralight EV1 and does not say where the configuration is.
        tag._cfgpage = 16 if "UL11" in tag.product else 37
    result = {"product": tag.product, "protected": tag.protect(PASSWORD, protect_from=4)}
    # The tag goes to sleep with each refusal.
    result["without"] = writes(activated(front_end), 8)
    tag = activated(front_end)
    result["wrong"] = tag.authenticate(b"\x00" * 6)
    tag = activated(front_end)
    result["right"] = tag.authenticate(PASSWORD)
    result["with"] = writes(tag, 8)
    return result


def pages(front_end, changes):
    tag = activated(front_end)
    result = {"product": tag.product, "written": []}
    for change in changes:
        page, data = change.split("=")
        result["written"].append(tag.write(int(page), bytes.fromhex(data)))
    result["without"] = writes(activated(front_end), 8)
    tag = activated(front_end)
    result["right"] = tag.transceive(b"\x1b" + PASSWORD[:4]).hex()
    result["with"] = writes(tag, 8)
    return result


def topaz(front_end):
    tag = activated(front_end)
    result = {"product": tag.product, "block": tag.read_block(0x1F).hex()}
    tag.write_block(0x20, bytes(range(8)))
    tag.write_block(0x20, b"\xf0" * 8, erase=False)
    result["written"] = tag.read_block(0x20).hex()
    result["segments"] = b"".join(tag.read_segment(number) for number in range(4)).hex()
    try:
        tag.write_block(0x0D, b"\xff" * 8)
        result["reserved"] = True
    except nfc.tag.tt1.Type1TagCommandError:
        result["reserved"] = False
    return result


device, what, *rest = sys.argv[1:]
front_end = nfc.ContactlessFrontend(device)
try:
    if what == "protect":
        result = protect(front_end)
    elif what == "pages":
        result = pages(front_end, rest)
    else:
        result = topaz(front_end)
finally:
    front_end.close()
print(json.dumps(result))
