# SPDX-License-Identifier: Apache-2.0
"""Reads and writes a card with pyscard, and prints what happened as one JSON object.

Usage: pyscard_peer.py [-e] HEX...    each HEX is an APDU; after -e the next one is an escape of the reader.
"""
import json
import sys

from smartcard.System import readers

names = [str(reader) for reader in readers()]
connection = readers()[0].createConnection()
connection.connect()
answers = []
is_escape = False
for word in sys.argv[1:]:
    if word == "-e":
        is_escape = True
        continue
    command = list(bytes.fromhex(word))
    if is_escape:
        answers.append(bytes(connection.control(0x42000001, command)).hex())
    else:
        data, sw1, sw2 = connection.transmit(command)
        answers.append(bytes(data + [sw1, sw2]).hex())
    is_escape = False
print(json.dumps({"readers": names, "atr": bytes(connection.getATR()).hex(), "answers": answers}))
