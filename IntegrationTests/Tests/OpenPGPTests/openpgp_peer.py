# SPDX-License-Identifier: Apache-2.0
"""A pcscd of its own, and in its reader the OpenPGP card of jcecard.

pcscd listens on a socket in the folder that is the only argument, and loads vpcd, a reader whose cards come over TCP. This
program is such a card; as a contactless reader would, it answers FF CA by itself.

One line in, one line out:
    start    starts pcscd; the answer is the socket's path
    insert   puts the card into the reader
    remove   takes it out
    kill     ends pcscd at once
"""
import ctypes
import functools
import logging
import operator
import os
import pathlib
import shutil
import signal
import socket
import struct
import sys
import threading
import time

# The tests start this from a thread with every signal blocked, and pcscd would inherit that.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # The card prints; lines are answers alone.

logging.disable(logging.CRITICAL)

from jcecard.main import OpenPGPCard  # noqa: E402

PCSCD = "/usr/sbin/pcscd"
DRIVER = "/usr/lib/pcsc/drivers/serial/libifdvpcd.so"
NAME = "Virtual PCD of a test"
# ISO/IEC 14443-4 Type A in PC/SC's clothes, with the card's own historical bytes.
HISTORICAL = bytes.fromhex("0031F573C00160009000")
ATR = bytes([0x3B, 0x80 | len(HISTORICAL), 0x80, 0x01]) + HISTORICAL
ATR += bytes([functools.reduce(operator.xor, ATR[1:])])
ATS = bytes([6 + len(HISTORICAL) - 1, 0x78, 0x77, 0x81, 0x02]) + HISTORICAL
UID = bytes.fromhex("08A1B2C3")


class Card:
    """The card, while it is in the reader."""

    def __init__(self, port, folder):
        self.card = OpenPGPCard(atr=ATR, storage_path=folder / "card")
        deadline = time.monotonic() + 10
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def receive(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            # vpcd sends length and payload apart; an acknowledgement that waits would cost 40 ms.
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            if not part:
                raise EOFError
            data += part
        return data

    def answer(self, message):
        if message[:2] == b"\xff\xca":
            return (ATS if message[2] == 1 else UID) + b"\x90\x00"
        return bytes(self.card.process_apdu(message))

    def run(self):
        try:
            while True:
                message = self.receive(struct.unpack(">H", self.receive(2))[0])
                if message == b"\x00":
                    self.card.power_off()
                elif message == b"\x01":
                    self.card.power_on()
                elif message == b"\x02":
                    self.card.reset()
                else:
                    reply = ATR if message == b"\x04" else self.answer(message)
                    self.socket.sendall(struct.pack(">H", len(reply)) + reply)
        except (EOFError, OSError):
            pass

    def remove(self):
        # Closing alone would leave the connection open while the thread reads from it.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        # vpcd looks every 0.4 s, and takes the next card for this one when it comes before that.
        time.sleep(1)


class Service:
    """pcscd on a socket of its own, which it is handed as systemd would."""

    def __init__(self, folder):
        self.path = folder / "pcscd.comm"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        configuration = folder / "reader.conf.d"
        configuration.mkdir(exist_ok=True)
        (configuration / "reader").write_text(
            f'FRIENDLYNAME "{NAME}"\nDEVICENAME /dev/null:{self.port}\nLIBPATH {DRIVER}\nCHANNELID {self.port}\n')
        self.path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.path))
        listener.listen(16)
        os.makedirs("/run/pcscd", exist_ok=True)

        def hand_over():
            # PR_SET_PDEATHSIG: however this program ends, pcscd does not outlive it.
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            os.environ["LISTEN_FDS"] = "1"
            os.environ["LISTEN_PID"] = str(os.getpid())
            if listener.fileno() == 3:
                os.set_inheritable(3, True)
            else:
                os.dup2(listener.fileno(), 3)
            os.execv(PCSCD, [PCSCD, "--foreground", "--error", "--config", str(configuration)])

        self.pid = os.fork()
        if self.pid == 0:
            hand_over()
        listener.close()

    def end(self, number):
        os.kill(self.pid, number)
        os.waitpid(self.pid, 0)
        self.path.unlink(missing_ok=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    service = card = None
    for line in sys.stdin:
        command = line.strip()
        reply = "ok"
        if command == "start":
            service = Service(folder)
            reply = str(service.path)
        elif command == "insert":
            card = Card(service.port, folder)
        elif command == "remove":
            card.remove()
        elif command == "kill":
            service.end(signal.SIGKILL)
            service = None
        else:
            reply = "unknown"
        print(reply, file=answers)
    if service:
        service.end(signal.SIGTERM)
    shutil.rmtree(folder, ignore_errors=True)


main()
