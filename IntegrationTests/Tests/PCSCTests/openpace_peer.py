# SPDX-License-Identifier: Apache-2.0
"""Opens a travel document in a PC/SC reader by PACE of OpenPACE (libeac), and prints EF.COM as hex.

Usage: openpace_peer.py NUMBER      the card access number
"""
import ctypes
import sys

from smartcard.System import readers

eac = ctypes.CDLL("libeac.so.3")


class Buffer(ctypes.Structure):
    _fields_ = [("length", ctypes.c_size_t), ("data", ctypes.POINTER(ctypes.c_ubyte)), ("max", ctypes.c_size_t), ("flags", ctypes.c_ulong)]


for name, result in {"EAC_CTX_new": ctypes.c_void_p, "PACE_SEC_new": ctypes.c_void_p}.items():
    getattr(eac, name).restype = result
for name in ("BUF_MEM_create_init", "PACE_STEP3A_generate_mapping_data", "PACE_STEP3B_generate_ephemeral_key",
             "PACE_STEP3D_compute_authentication_token", "EAC_add_iso_pad", "EAC_encrypt", "EAC_decrypt", "EAC_authenticate",
             "EAC_remove_iso_pad"):
    getattr(eac, name).restype = ctypes.POINTER(Buffer)


def buffer(data):
    return eac.BUF_MEM_create_init(bytes(data), ctypes.c_size_t(len(data)))


def content(pointer):
    assert pointer, "libeac refused"
    return bytes(pointer.contents.data[:pointer.contents.length])


def tlv(tag, value):
    size = bytes([len(value)]) if len(value) < 0x80 else bytes([0x81, len(value)])
    return tag.to_bytes((tag.bit_length() + 7) // 8, "big") + size + value


def objects(data):
    """The values of data objects by tag; each has one byte of tag, and one or two of length."""
    found = {}
    while data:
        tag, size, start = data[0], data[1], 2
        if size == 0x81:
            size, start = data[2], 3
        found[tag] = data[start:start + size]
        data = data[start + size:]
    return found


connection = readers()[0].createConnection()
connection.connect()


def send(header, data=b"", expects=True):
    command = bytes.fromhex(header) + (bytes([len(data)]) + data if data else b"") + (b"\0" if expects else b"")
    answer, first, second = connection.transmit(list(command))
    if (first, second) != (0x90, 0x00):
        sys.exit(f"{command.hex()}: {first:02x}{second:02x}")
    return bytes(answer)


eac.EAC_init()
context = ctypes.c_void_p(eac.EAC_CTX_new())
access = send("00b09c00")
assert eac.EAC_CTX_init_ef_cardaccess(access, ctypes.c_size_t(len(access)), context)
number = sys.argv[1].encode()
secret = ctypes.c_void_p(eac.PACE_SEC_new(number, ctypes.c_size_t(len(number)), 2))

identifier = access[access.index(b"\x06\x0a") + 2:][:10]
send("0022c1a4", tlv(0x80, identifier) + tlv(0x83, b"\2"), expects=False)


def step(header, value, tag):
    return objects(objects(send(header, tlv(0x7C, value)))[0x7C])[tag]


nonce = step("10860000", b"", 0x80)
assert eac.PACE_STEP2_dec_nonce(context, secret, buffer(nonce))
mapping = content(eac.PACE_STEP3A_generate_mapping_data(context))
assert eac.PACE_STEP3A_map_generator(context, buffer(step("10860000", tlv(0x81, mapping), 0x82)))
own = content(eac.PACE_STEP3B_generate_ephemeral_key(context))
other = step("10860000", tlv(0x83, own), 0x84)
assert eac.PACE_STEP3B_compute_shared_secret(context, buffer(other))
assert eac.PACE_STEP3C_derive_keys(context)
token = content(eac.PACE_STEP3D_compute_authentication_token(context, buffer(other)))
assert eac.PACE_STEP3D_verify_authentication_token(context, buffer(step("00860000", tlv(0x85, token), 0x86))) == 1

assert eac.EAC_CTX_set_encryption_ctx(context, 0)
assert eac.EAC_set_ssc(context, 0)


def secure(header, data=b"", length=None):
    """Sends a command by secure messaging, and returns the data of its answer."""
    eac.EAC_increment_ssc(context)
    protected = b""
    if data:
        protected = tlv(0x87, b"\1" + content(eac.EAC_encrypt(context, eac.EAC_add_iso_pad(context, buffer(data)))))
    if length is not None:
        protected += tlv(0x97, bytes([length]))
    start = content(eac.EAC_add_iso_pad(context, buffer(bytes.fromhex(header))))
    covered = eac.EAC_add_iso_pad(context, buffer(start + protected)) if protected else buffer(start)
    protected += tlv(0x8E, content(eac.EAC_authenticate(context, covered)))
    answer = send(header, protected)
    eac.EAC_increment_ssc(context)
    found = objects(answer)
    covered = eac.EAC_add_iso_pad(context, buffer(answer[:-10]))
    assert content(eac.EAC_authenticate(context, covered)) == found[0x8E], "the answer has a wrong code"
    assert found[0x99] == b"\x90\0", found[0x99].hex()
    if 0x87 not in found:
        return b""
    return content(eac.EAC_remove_iso_pad(eac.EAC_decrypt(context, buffer(found[0x87][1:]))))


secure("0ca4040c", bytes.fromhex("a0000002471001"))
print(secure("0cb09e00", length=0).hex())
