# SPDX-License-Identifier: Apache-2.0
"""A site on loopback that serves association files in many ways, good and bad, by the first label of its name.

Usage: python3 site.py FOLDER. Makes an authority and a certificate for *.site.example in FOLDER with openssl, prints the
port, and serves until standard input ends.
"""
import pathlib
import socket
import ssl
import subprocess
import sys
import threading
import time

FILE = b'{"applinks":{"details":[{"appIDs":["T.org.x"],"components":[{"/":"/x/*"}]}]}}'
LIMIT = 128 << 10


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make_certificates(folder):
    new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl(folder, *new, "-x509", "-days", "2", "-subj", "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(folder, *new, "-subj", "/CN=site", "-keyout", "site.key", "-out", "site.csr")
    pathlib.Path(folder, "san").write_text("subjectAltName=DNS:*.site.example\n")
    openssl(folder, "x509", "-req", "-days", "2", "-in", "site.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-extfile", "san", "-out", "site.pem")


def head(*fields, status="200 OK"):
    return ("\r\n".join([f"HTTP/1.1 {status}", *fields]) + "\r\n\r\n").encode()


def length(body):
    return head(f"Content-Length: {len(body)}", "Content-Type: application/json") + body


def chunks(*parts):
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return head("Transfer-Encoding: chunked") + body


ANSWERS = {
    "good": length(FILE),
    "chunked": chunks(FILE[:10], FILE[10:]) + b"0\r\n\r\n",
    "nothing": b"",
    "cut": head("Server: x") + FILE[:-2],
    "toend": head("Server: x") + FILE,
    "early": head("Link: x", status="103 Early Hints") + length(FILE),
    "largest": length(FILE + b" " * (LIMIT - len(FILE))),
    "redirect": head("Location: https://good.site.example/", "Content-Length: 0", status="301 Moved"),
    "missing": head("Content-Length: 0", status="404 Not Found"),
    "gone": head("Content-Length: 0", status="410 Gone"),
    "broken": head("Content-Length: 0", status="503 Unavailable"),
    "large": length(FILE + b" " * LIMIT),
    "liar": head("Content-Length: 99999999999999999999") + FILE,
    "twice": head("Content-Length: 1", "Content-Length: 2") + FILE,
    "short": head("Content-Length: 5000") + FILE,
    "gzip": head("Content-Length: 5", "Content-Encoding: gzip") + b"\x1f\x8b\x08\x00\x00",
    "text": length(b"<html>no</html>"),
    "deep": length(b"[" * 100000),
    "garbage": b"\x00\xff" * 50 + b"\r\n\r\n",
    "head": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100000,
    "chunky": head("Transfer-Encoding: chunked") + b"zz\r\n",
    "bigchunk": head("Transfer-Encoding: chunked") + b"ffffffff\r\n" + b" " * (LIMIT + 1),
    "twocodings": head("Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n",
    "nameless": head("no colon", "Content-Length: 0"),
    "hugemissing": head("Content-Length: 999999999", status="404 Not Found"),
    "continued": head(status="100 Continue")
    + f"HTTP/1.0 200 OK\r\nContent-Length: {len(FILE)}\r\n\r\n".encode() + FILE + b" and more",
    "lines": b"HTTP/1.1 200\nTransfer-Encoding: chunked\n\n" + b"%x;x=y\n%s\n0\nTrailer: x\n\n" % (len(FILE), FILE),
    "trailers": chunks(FILE) + b"0\r\n" + b"X: y\r\n" * 100000 + b"\r\n",
}


def serve(client, context):
    try:
        with context.wrap_socket(client, server_side=True) as stream:
            request = b""
            while b"\r\n\r\n" not in request:
                request += stream.recv(4096)
            fields = request.decode().split("\r\n")
            assert fields[0] == "GET /.well-known/apple-app-site-association HTTP/1.1", fields
            host = next(field for field in fields if field.startswith("Host: "))[6:]
            name = host.split(".")[0]
            if name == "endless":
                stream.sendall(head("Server: x"))
                while True:
                    stream.sendall(b" " * 65536)
            if name == "endlesschunks":
                stream.sendall(head("Transfer-Encoding: chunked"))
                while True:
                    stream.sendall(b"1\r\n \r\n" * 1000)
            if name == "slow":
                stream.sendall(head("Server: x"))
                while True:
                    stream.sendall(b" ")
                    time.sleep(0.05)
            if name == "silent":
                time.sleep(60)
            # slices-NAME: an answer of which each byte comes by itself.
            if name.startswith("slices-"):
                for byte in ANSWERS[name[7:]]:
                    stream.sendall(bytes([byte]))
                name = "nothing"
            # first-COUNT-NAME: the first bytes of an answer.
            if name.startswith("first-"):
                _, count, whole = name.split("-")
                stream.sendall(ANSWERS[whole][:int(count)])
                name = "nothing"
            stream.sendall(ANSWERS.get(name, length(FILE)))
            # The connection ends without the message of TLS that says so, as when somebody between cuts it.
            if name == "cut":
                return
            stream.unwrap()
    except (OSError, AssertionError):
        pass


def main():
    folder = sys.argv[1]
    make_certificates(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/site.pem", f"{folder}/site.key")
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


main()
