# SPDX-License-Identifier: Apache-2.0
import base64
import subprocess

from support.sample import SampleAppTest
from support.simulator import PROGRAM

LINK = "Poster with a link"


class Tour(SampleAppTest):
    """The tour of the documentation, step by step. Its pictures are made here."""

    def setUp(self):
        super().setUp()
        self.window.resize(1320, 850)

    def command(self, *words):
        """A command that acts on the running simulator."""
        return subprocess.run([PROGRAM, *words], env=self.simulator.environment, capture_output=True, text=True, timeout=20)

    def test_each_step_of_the_tour_works(self):
        self.window.picture("simulator-home")
        # Scan a tag
        self.open()
        self.press("Scan")
        self.window.find(".sheet[data-state=ready]")
        self.window.picture("simulator-ready")
        self.window.picture("phone-ready", of=".device")
        self.hold(LINK)
        self.sheet("success", "The message is in your list.")
        self.sheet_is_gone()
        self.window.wait_text(".app-title", "Message 1")
        self.window.picture("simulator-details")
        self.window.picture("phone-read", of=".device")
        # Write, and cause errors
        self.simulator.do("leave")
        self.window.choose("Empty sticker", "Lock")
        self.window.button("dialog", "Lock")
        self.simulator.until(lambda state: any(tag["name"] == "Empty sticker" and tag["status"] == "read-only" for tag in state["tags"]))
        self.press("Write to a Card")
        self.window.find(".sheet[data-state=ready]")
        self.hold("Empty sticker")
        self.window.find(".sheet[data-state=failure]")
        self.window.picture("simulator-read-only")
        self.sheet_is_gone()
        self.simulator.do("leave")
        # Read a tag while no app scans
        self.simulator.do("home")
        self.window.click_in_card(LINK, ".tap")
        self.window.find(".banner-open")
        self.window.click("[data-tab=background]")
        self.window.wait(lambda: len(self.window.all(".why .step")) >= 2, "the rules are listed")
        self.window.picture("simulator-banner")
        self.window.picture("phone-notification", of=".device")
        # Save your work
        capture = base64.b64decode(self.simulator.do("export_trace", format="pcapng")["base64"])
        self.assertEqual(capture[:4], b"\x0a\x0d\x0d\x0a")
        self.assertIn("NFCTestKit", str(self.simulator.do("copy_as_test")))
        # Drive it from a script
        self.assertEqual(self.command("lock").returncode, 0)
        self.simulator.until(lambda state: state["phone"]["locked"])
        self.assertEqual(self.command("tap", LINK).returncode, 0)
        self.assertIn(LINK, self.command("list", "--json").stdout)
