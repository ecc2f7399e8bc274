# SPDX-License-Identifier: Apache-2.0
"""Jobs, and their signatures made by openssl."""
import base64
import datetime
import json
import pathlib
import subprocess
import uuid

JOB_TOPIC = "opencorenfc/{}/bridge/job"


def job(kind="write", node="kiosk-7", seconds=60, **members):
    deadline = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    value = {"id": str(uuid.uuid4()), "node": node, "kind": kind, "deadline": deadline.strftime("%Y-%m-%dT%H:%M:%SZ"), **members}
    if kind == "write" and "message" not in value:
        value["message"] = {"link": "https://example.com/t/{serial}"}
    return value


def _text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Key:
    """An Ed25519 key of openssl."""

    def __init__(self, folder, name="ops"):
        self.name, self.file = name, pathlib.Path(folder) / f"{name}.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.file], check=True, capture_output=True)
        shared = subprocess.run(["openssl", "pkey", "-in", self.file, "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
        self.public = base64.b64encode(shared[-32:]).decode()

    def sign(self, value, key=None):
        """The signed form of a job, as in the README's `Signed jobs`."""
        body = json.dumps(value).encode()
        message = self.file.with_suffix(".message")
        message.write_bytes(b"opencorenfc-job-v1\n" + body)
        signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", self.file, "-rawin", "-in", message], check=True,
                                   capture_output=True).stdout
        return {"signed": _text(body), "key": key or self.name, "signature": _text(signature)}
