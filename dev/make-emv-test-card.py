# SPDX-License-Identifier: Apache-2.0
"""Creates the EMV test card: an authority, an issuer and a card key, and the certificates (EMV 4.3, Book 2, 5 and 6).

Writes the values of a new card into the Swift file, and prints the authority's public key for the guide. The private
keys of the authority and the issuer are deleted. Needs openssl.
Usage: python3 dev/make-emv-test-card.py
"""
import hashlib
import pathlib
import re
import subprocess

TARGET = "Sources/VirtualTags/VirtualTags/Cards/EMVApplication.swift"
# Identifiers that begin with F are not registered (ISO/IEC 7816-5), so no payment scheme has this one: F0 OCNF.
RID = bytes.fromhex("f04f434e46")
INDEX = b"\x01"
PAN = "4111111111111111"
PROFILE = bytes.fromhex("7000")
CDOL1 = bytes.fromhex("9f02069f03069f1a0295055f2a029a039c019f3704")


def tlv(tag, value):
    value = value if isinstance(value, bytes) else bytes.fromhex(value)
    length = bytes([len(value)]) if len(value) < 0x80 else bytes([0x81, len(value)])
    return bytes.fromhex(tag) + length + value


class Key:
    """An RSA key with exponent 3."""

    def __init__(self, bits):
        pem = subprocess.run(["openssl", "genrsa", "-3", str(bits)], check=True, capture_output=True).stdout
        rsa = ["openssl", "rsa", "-traditional", "-outform", "DER"]
        self.private = subprocess.run(rsa, input=pem, check=True, capture_output=True).stdout
        text = subprocess.run(["openssl", "rsa", "-noout", "-text"], input=pem, check=True, capture_output=True).stdout
        number = re.search(rb"privateExponent:\s+([0-9a-f:\s]+)", text).group(1)
        self.exponent = int(re.sub(rb"[:\s]", b"", number), 16)
        modulus = subprocess.run(["openssl", "rsa", "-noout", "-modulus"], input=pem, check=True, capture_output=True)
        self.modulus = bytes.fromhex(modulus.stdout.decode().split("=")[1])

    def sign(self, head, appended, padding=b""):
        """A signature with recovery (Book 2, A2.1): the head, padded to the modulus, and the hash of all."""
        room = len(self.modulus) - 22
        signed = head + padding * (room - len(head)) if padding else head
        assert len(signed) == room
        block = b"\x6a" + signed + hashlib.sha1(signed + appended).digest() + b"\xbc"
        power = pow(int.from_bytes(block, "big"), self.exponent, int.from_bytes(self.modulus, "big"))
        return power.to_bytes(len(self.modulus), "big")

    def certify(self, head, key, appended=b""):
        """A certificate of another key, and what of its modulus does not fit."""
        head += b"\x12\x49\x00\x00\x01\x01\x01" + bytes([len(key.modulus), 1])
        room = len(self.modulus) - 22 - len(head)
        left, rest = key.modulus[:room], key.modulus[room:]
        return self.sign(head + left, rest + b"\x03" + appended), rest


def values():
    authority, issuer, card = Key(1408), Key(1152), Key(1024)
    data = (
        tlv("5a", PAN) + tlv("5f24", "491231") + tlv("5f25", "200101") + tlv("5f28", "0999") + tlv("5f34", "01")
        + tlv("9f07", "ff00") + tlv("9f08", "0001") + tlv("9f42", "0963") + tlv("8c", CDOL1)
        + tlv("8d", CDOL1 + bytes.fromhex("8a02")) + tlv("8e", "00000000000000001f03") + tlv("9f0d", "fc00000000")
        + tlv("9f0e", "0000000000") + tlv("9f0f", "fc00000000") + tlv("9f4a", "82")
    )
    static = data + PROFILE
    issued, issuer_rest = authority.certify(b"\x02\x41\x11\x11\xff", issuer)
    certified, card_rest = issuer.certify(b"\x04" + bytes.fromhex(PAN) + b"\xff\xff", card, static)
    track = tlv("57", PAN + "d49122010000000000000f") + tlv("5f20", b"TEST/CARD") + tlv("5f30", "0201")
    chain = tlv("8f", INDEX) + tlv("9f32", "03") + tlv("92", issuer_rest) + tlv("90", issued)
    own = tlv("9f47", "03") + tlv("9f48", card_rest) + tlv("9f46", certified) + tlv("9f49", "9f3704")
    print("exponent", "03", "\nmodulus", authority.modulus.hex())
    print("hash", hashlib.sha1(RID + INDEX + authority.modulus + b"\x03").hexdigest())
    return {
        "aid": RID + b"\x01",
        "fci": tlv("50", b"TEST CARD") + tlv("87", "01") + tlv("5f2d", b"en") + tlv("9f11", "01")
        + tlv("9f12", b"OPENCORENFC TEST") + tlv("bf0c", tlv("9f4d", "0b0a")),
        "options": tlv("82", PROFILE) + tlv("94", "08010201" + "10010300"),
        "record 1 1": tlv("70", data),
        "record 1 2": tlv("70", track),
        "record 2 1": tlv("70", chain),
        "record 2 2": tlv("70", tlv("93", issuer.sign(b"\x03\x01\x00\x00", static, b"\xbb"))),
        "record 2 3": tlv("70", own),
        "9f13": b"\x00\x00", "9f17": b"\x03", "9f36": b"\x00\x00", "9f4f": CDOL1 + bytes.fromhex("9f3602"), "log": b"",
        "key": card.private, "master key": b"OpenCoreNFC TEST",
    }


def main():
    path = pathlib.Path(__file__).resolve().parent.parent / TARGET
    text = path.read_text()
    head = text[:text.index("    static var new: [String: [UInt8]] {\n")]
    rows = ""
    for name, value in values().items():
        digits = value.hex()
        if len(digits) < 96:
            rows += f'            "{name}": "{digits}",\n'
        else:
            lines = "".join(f"            {digits[start:start + 104]}\n" for start in range(0, len(digits), 104))
            rows += f'            "{name}": """\n{lines}            """,\n'
    path.write_text(
        head + "    static var new: [String: [UInt8]] {\n        [\n" + rows
        + "        ].mapValues { [UInt8](hexadecimal: $0.utf8.filter { $0 != 0x0A }) ?? [] }\n    }\n}\n"
    )


main()
