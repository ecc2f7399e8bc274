# SPDX-License-Identifier: Apache-2.0
import pathlib

from support.case import BrowserTest

images = pathlib.Path(__file__).resolve().parents[3] / "Tests" / "Tools" / "CommandLineTests" / "Images"


class Importing(BrowserTest):
    """Dumps of real tags that are dropped on the page."""

    def test_a_dump_of_a_flipper_becomes_a_tag(self):
        self.window.drop("poster.nfc", (images / "poster-ntag215.nfc").read_bytes())
        self.window.wait_text("#notices", "poster.nfc is in the drawer")
        self.window.card("poster")
        tag = self.simulator.named("poster")
        self.assertEqual((tag["product"], tag["technology"]), ("NTAG215", "nfc-a"))
        self.window.screenshot("imported")

    def test_a_file_that_is_no_dump_is_refused_with_a_reason(self):
        count = len(self.simulator.api.state["tags"])
        self.window.drop("shopping.txt", b"milk and bread")
        self.window.wait_text("#notices .problem", "shopping.txt can't be imported.")
        self.window.wait_text("[role=alert]", "shopping.txt")
        self.window.screenshot("refused")
        self.simulator.do("products")
        self.assertEqual(len(self.simulator.api.state["tags"]), count)

    def test_a_dump_that_ends_early_is_refused_and_a_good_one_after_it_is_taken(self):
        dump = (images / "poster-ntag215.nfc").read_bytes()
        self.window.drop("broken.nfc", dump[:200])
        self.window.wait_text("#notices .problem", "broken.nfc can't be imported.")
        self.window.drop("poster.nfc", dump)
        self.window.wait_text("#notices", "poster.nfc is in the drawer")

    def test_a_folder_of_dumps_is_imported_in_one_go(self):
        dump = (images / "poster-ntag215.nfc").read_bytes()
        count = len(self.simulator.api.state["tags"])
        for number in range(3):
            self.window.drop(f"number-{number}.nfc", dump)
        self.simulator.until(lambda state: len(state["tags"]) == count + 3)
