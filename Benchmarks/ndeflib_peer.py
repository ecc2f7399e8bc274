# SPDX-License-Identifier: Apache-2.0
"""Measures ndeflib on messages in hex on standard input, one a line; prints rates as JSON.

Usage: python ndeflib_peer.py [ROUNDS]
"""
import json
import sys
import time

import ndef


def rate(rounds, count, body):
    """The best of several rounds, in messages per second."""
    best = 0.0
    for _ in range(rounds):
        start = time.perf_counter()
        body()
        best = max(best, count / (time.perf_counter() - start))
    return best


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    messages = [bytes.fromhex(line) for line in sys.stdin.read().split()]
    count = len(messages)

    def parse():
        for message in messages:
            list(ndef.message_decoder(message, known_types={}))

    def decode_typed():
        for message in messages:
            list(ndef.message_decoder(message))

    raw = [list(ndef.message_decoder(message, known_types={})) for message in messages]

    def encode():
        for message in raw:
            b"".join(ndef.message_encoder(message))

    print(json.dumps({
        "parse": rate(rounds, count, parse),
        "decode_typed": rate(rounds, count, decode_typed),
        "encode": rate(rounds, count, encode),
    }))


if __name__ == "__main__":
    main()
