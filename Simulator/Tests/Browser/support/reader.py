# SPDX-License-Identifier: Apache-2.0
"""What an app does over the local socket, without any code of the project."""


class App:
    """An app with a screen that scans one Type 2 tag."""

    def __init__(self, simulator, name="Reader"):
        self.simulator = simulator
        self.program = simulator.program(name)
        self.key = next(app for app in simulator.until(lambda state: any(app["name"] == name for app in state["apps"]))["apps"] if app["name"] == name)["id"]

    def show(self, *items, title="Messages"):
        self.program.send(do="screen", screen={"title": title, "items": list(items)})
        self.simulator.until(lambda state: next(app for app in state["apps"] if app["id"] == self.key)["screen"])

    def open(self):
        self.simulator.do("open_app", app=self.key)

    def sheet(self, state, message, error=False):
        self.program.send(do="sheet", state=state, title="Ready to Scan", message=message, shows_error_symbol=error)

    def begin(self, message="Hold the card at the top of the phone."):
        self.program.ask("claim", **{"for": "session"})
        self.program.send(do="event", session=1, kind="session", name="begin", detail="NFCNDEFReaderSession")
        self.sheet("ready", message)
        self.program.ask("carrier", on=True)

    def activate(self):
        """Selects the first Type 2 tag, and returns its identifier."""
        self.program.frame("nfc-a", "26", bits=7, checksum="none")
        identifier = ""
        for level in ("93", "95"):
            part = self.program.frame("nfc-a", level + "20", checksum="none")["bytes"]
            self.program.frame("nfc-a", level + "70" + part)
            identifier += part[2:8] if part.startswith("88") else part[:8]
        return identifier

    def end(self, state, message, error=False):
        self.program.ask("carrier", on=False)
        self.sheet(state, message, error)
        self.program.send(do="event", session=1, kind="session", name="invalidate", detail="the session is done")
