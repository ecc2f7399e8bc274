# SPDX-License-Identifier: Apache-2.0
"""The sample app in Swift on the phone: the simulator starts it, and knows nothing of it before."""
import os
import pathlib
import unittest

from .case import BrowserTest
from .simulator import Simulator

PROGRAM = os.environ.get("NFC_SAMPLE_APP", str(pathlib.Path(__file__).resolve().parents[4] / ".build" / "debug" / "TagReader"))


@unittest.skipUnless(os.access(PROGRAM, os.X_OK), f"{PROGRAM} is missing. Build it with: swift build --product TagReader")
class SampleAppTest(BrowserTest):
    """A test with Tag Reader on its phone."""

    def make_simulator(self):
        return Simulator(apps=[PROGRAM])

    def setUp(self):
        super().setUp()
        self.key = self.app()["id"]

    def app(self):
        """Tag Reader, when its screen is there."""
        state = self.simulator.until(lambda state: any(app["screen"] for app in state["apps"]))
        return next(app for app in state["apps"] if app["screen"])

    def open(self):
        self.window.click(f".app[data-key='app-{self.key}']")
        self.window.wait_text(".app-title", "Messages")

    def press(self, text):
        self.window.button(":is(.app-screen, .app-alert)", text)

    def hold(self, name):
        """Brings a tag near, as a person who holds it there does."""
        self.window.click_in_card(name, ".hold")

    def leave(self):
        self.simulator.do("leave")
        super().leave()

    def sheet(self, state, text):
        """Waits for a state of the scanning sheet."""
        self.window.find(f".sheet[data-state={state}]")
        self.window.wait_text(".sheet-message", text)

    def sheet_is_gone(self):
        self.simulator.until(lambda state: state["phone"]["sheet"] is None)
        self.window.wait(lambda: not self.window.has(".sheet-layer.shown"), "the sheet has left")
