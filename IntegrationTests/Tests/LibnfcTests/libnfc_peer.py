# SPDX-License-Identifier: Apache-2.0
"""Reads the message of a Type 4B tag with libnfc, which lets the chip do ISO-DEP; prints one JSON object.

None of libnfc's own programs sends commands to a Type B card. Usage: libnfc_peer.py, with LIBNFC_DEVICE.
"""
import ctypes
import json

NMT_ISO14443B, NBR_106 = 3, 1


class Modulation(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rate", ctypes.c_int)]


class Failure(Exception):
    pass


nfc = ctypes.CDLL("libnfc.so.6")
nfc.nfc_open.restype = ctypes.c_void_p
nfc.nfc_strerror.restype = ctypes.c_char_p
for function in (nfc.nfc_strerror, nfc.nfc_initiator_init, nfc.nfc_close, nfc.nfc_initiator_deselect_target):
    function.argtypes = [ctypes.c_void_p]
nfc.nfc_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
nfc.nfc_exit.argtypes = [ctypes.c_void_p]
nfc.nfc_initiator_select_passive_target.argtypes = [
    ctypes.c_void_p, Modulation, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
nfc.nfc_initiator_transceive_bytes.argtypes = [
    ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
nfc.nfc_initiator_target_is_present.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


def command(device, text):
    """Sends a command; gives the answer without its status."""
    data = bytes.fromhex(text)
    answer = ctypes.create_string_buffer(264)
    count = nfc.nfc_initiator_transceive_bytes(device, data, len(data), answer, len(answer), 1000)
    if count < 2:
        raise Failure(f"{text}: {nfc.nfc_strerror(device)}")
    if answer.raw[count - 2:count] != b"\x90\x00":
        raise Failure(f"{text}: {answer.raw[:count].hex()}")
    return answer.raw[:count - 2]


context = ctypes.c_void_p()
nfc.nfc_init(ctypes.byref(context))
device = nfc.nfc_open(context, None)
if not device or nfc.nfc_initiator_init(device) < 0:
    raise Failure("There is no device.")
target = ctypes.create_string_buffer(1024)
modulation = Modulation(NMT_ISO14443B, NBR_106)
found = nfc.nfc_initiator_select_passive_target(device, modulation, None, 0, target)
if found != 1:
    raise Failure(f"select: {found}")
result = {"pupi": target.raw[:4].hex()}
for text in ("00a4040007d276000085010100", "00a4000c02e104"):
    command(device, text)
length = int.from_bytes(command(device, "00b0000002"), "big")
result["message"] = command(device, f"00b00002{length:02x}").hex()
# libnfc sends R(NAK) with the CID that the chip gave the card.
result["present"] = nfc.nfc_initiator_target_is_present(device, None) == 0
# The card goes on afterwards.
result["again"] = command(device, "00b0000002").hex()
nfc.nfc_initiator_deselect_target(device)
result["selected_again"] = nfc.nfc_initiator_select_passive_target(device, modulation, None, 0, target) == 1
nfc.nfc_close(device)
nfc.nfc_exit(context)
print(json.dumps(result))
