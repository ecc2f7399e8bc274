# SPDX-License-Identifier: Apache-2.0
import json
import shutil
import subprocess
import tempfile
import unittest

from support.case import BrowserTest
from support.reader import App


class Export(BrowserTest):
    """Files that leave the page and come back."""

    def choose_file(self, item):
        self.window.button(".bar", "Files")
        self.window.menu_item(item)

    def tap(self):
        """Taps a tag, and waits until all of it is in the trace."""
        self.simulator.do("tap", tag=self.simulator.named("Type 4 card")["id"], ms=300)
        self.window.wait(lambda: not self.simulator.named("Type 4 card")["near"], "the tag has left")

    def test_everything_is_saved_and_opened_again(self):
        self.simulator.do("new_tag", product="NTAG213", name="To be kept", link="https://example.org/kept")
        self.tap()
        self.choose_file("Save Everything")
        saved = self.window.saved(".json")
        self.assertIn("To be kept", json.dumps(json.loads(saved)))
        self.simulator.do("delete", tag=self.simulator.named("To be kept")["id"])
        self.window.wait(lambda: "To be kept" not in self.window.text(".cards"), "the tag is gone")
        self.window.drop("mine.simulator.json", saved)
        self.window.wait_text("dialog", "mine.simulator.json")
        self.window.screenshot("open-question")
        self.window.button("dialog", "Open")
        self.window.card("To be kept")
        self.assertEqual(self.simulator.named("To be kept")["message"][0]["text"], "https://example.org/kept")

    def test_a_file_that_was_not_saved_here_is_refused_and_nothing_is_lost(self):
        count = len(self.simulator.api.state["tags"])
        self.window.drop("other.simulator.json", b'{"something": "else"}')
        self.window.find("#notices .problem")
        self.assertFalse(self.window.has("dialog[open]"), "a file that can't be opened needs no question")
        self.simulator.do("products")
        self.assertEqual(len(self.simulator.api.state["tags"]), count)

    @unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
    def test_wireshark_names_the_frames_of_the_capture(self):
        self.tap()
        self.choose_file("Trace for Wireshark (pcapng)")
        capture = self.window.saved(".pcapng")
        with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
            file.write(capture)
            file.flush()
            shown = subprocess.run(["tshark", "-n", "-r", file.name], capture_output=True, text=True, timeout=60)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for words in ("REQA", "ATQA", "RATS", "ATS"):
            self.assertIn(words, shown.stdout)

    def test_the_test_that_does_what_was_done_is_shown(self):
        app = App(self.simulator)
        self.simulator.do("hold", tag=self.simulator.named("Poster with a link")["id"])
        app.begin()
        app.activate()
        app.end("success", "The message is in your list.")
        self.choose_file("Copy as Test")
        self.window.wait_text("dialog pre", "import NFCTestKit")
        self.assertIn("@Test", self.window.text("dialog pre"))
        self.window.screenshot("copy-as-test")

    def test_a_tag_is_saved_as_a_file_of_a_flipper(self):
        self.window.choose("Poster with a link", "Save as File")
        self.window.run("""const select = document.querySelector('dialog select'); select.value = 'flipper';
            select.dispatchEvent(new Event('change'))""")
        self.window.button("dialog", "Save")
        self.assertTrue(self.window.saved(".nfc").startswith(b"Filetype: Flipper NFC device"))
