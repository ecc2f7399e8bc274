# SPDX-License-Identifier: Apache-2.0
from support.sample import SampleAppTest

LINK = "Poster with a link"


class SampleApp(SampleAppTest):
    """The story of the sample app: what its user does, and what the phone shows."""

    def receive(self, name):
        """Brings a message to the app in the background, which takes less time than a scan."""
        self.simulator.do("tap", tag=self.simulator.named(name)["id"], ms=300)
        state = self.simulator.until(lambda state: state["notifications"] and not any(tag["near"] for tag in state["tags"]))
        self.simulator.do("open_notification", notification=state["notifications"][0]["id"])
        self.window.wait_text(".app-title", "Message 1")

    def test_a_scan_shows_the_message_and_its_details(self):
        self.open()
        self.assertIn("No messages yet.", self.window.text(".app-screen"))
        self.window.screenshot("sample-empty")
        self.press("Scan")
        self.sheet("ready", "Hold the card near the reader to see its messages.")
        self.window.screenshot("sample-ready")
        self.hold(LINK)
        self.sheet("success", "The message is in your list.")
        self.window.keep("sample-success")
        self.sheet_is_gone()
        self.window.wait_text(".app-title", "Message 1")
        self.assertIn("https://tagreader.example/hello", self.window.text(".app-rows"))
        self.window.screenshot("sample-details")
        self.window.wait_text(".virtual", "readerSession(_:didDetectNDEFs:)")
        session = self.simulator.until(lambda state: state["sessions"])["sessions"][-1]
        self.assertEqual((session["kind"], session["end"].split(":")[0]), ("NFCNDEFReaderSession", "204"))
        # The tag stays, and is not read again in the background.
        self.assertEqual(self.simulator.api.state["notifications"], [])
        self.press("Messages")
        self.window.wait_text(".app-title", "Messages")
        self.assertIn("Link: https://tagreader.example/hello", self.window.text(".app-row-text"))
        self.window.screenshot("sample-list")

    def test_a_message_is_written_to_another_card(self):
        self.receive(LINK)
        self.press("Write to a Card")
        self.sheet("ready", "Hold the card near the reader to save the message on it.")
        self.hold("Empty sticker")
        self.sheet("success", "The message is saved on the card.")
        self.window.keep("sample-written")
        self.sheet_is_gone()
        self.window.wait_text(".app-text", "The message is saved on the card.")
        tag = self.simulator.named("Empty sticker")
        self.assertIn(b"tagreader.example/hello".hex(), str(self.simulator.do("message", tag=tag["id"])))

    def test_a_locked_card_is_refused(self):
        self.receive(LINK)
        tag = self.simulator.named("Empty sticker")["id"]
        self.simulator.do("lock_tag", tag=tag)
        self.press("Write to a Card")
        self.window.find(".sheet[data-state=ready]")
        self.hold("Empty sticker")
        self.sheet("failure", "This card is locked and can't be changed. Please use another one.")
        self.window.find(".sheet .drawing.failure")
        self.window.keep("sample-read-only")

    def test_two_cards_have_to_be_one(self):
        self.receive(LINK)
        # Both are near when the session begins: it would find one that comes first.
        self.simulator.do("hold", tag=self.simulator.named(LINK)["id"])
        self.simulator.do("hold", tag=self.simulator.named("Empty sticker")["id"])
        self.press("Write to a Card")
        self.window.wait_text(".sheet-message", "More than one card was found. Please remove all but one.")
        self.window.keep("sample-two-cards")
        self.simulator.do("remove", tag=self.simulator.named(LINK)["id"])
        self.sheet("success", "The message is saved on the card.")

    def test_cancel_ends_the_session_as_a_person_does(self):
        self.open()
        self.press("Scan")
        self.window.find(".sheet[data-state=ready]")
        self.window.click(".sheet-cancel")
        self.sheet_is_gone()
        state = self.simulator.until(lambda state: state["sessions"] and state["sessions"][-1]["end"])
        self.assertTrue(state["sessions"][-1]["end"].startswith("200:"))
        self.assertFalse(self.window.has(".app-alert"))

    def test_a_locked_phone_ends_the_scan(self):
        self.open()
        self.press("Scan")
        self.window.find(".sheet[data-state=ready]")
        self.simulator.do("lock")
        state = self.simulator.until(lambda state: state["sessions"] and state["sessions"][-1]["end"])
        self.assertTrue(state["sessions"][-1]["end"].startswith("202:"))
        self.simulator.until(lambda state: state["phone"]["sheet"] is None)

    def test_what_the_phone_withholds_reaches_the_app(self):
        self.open()
        for switch, value, sentence, code in [
            ("radio", False, "The reader is switched off. Switch it on and scan again.", "6:"),
            ("busy", True, "The reader is busy. Please wait a moment and scan again.", "203:"),
            ("entitlement", False, "This app isn't allowed to scan. Check its settings and start again.", "2:"),
        ]:
            # The page says the same.
            hint = self.window.run("return fetch('texts.en.json').then((file) => file.json()).then((texts) => texts[arguments[0]])", f"switch.{switch}.hint")
            self.assertIn(f"({code[:-1]})", hint)
            self.simulator.do("switch", name=switch, value=value)
            self.press("Scan")
            self.window.wait_text(".app-alert", sentence)
            self.window.screenshot(f"sample-{switch}")
            state = self.simulator.until(lambda state: state["sessions"] and (state["sessions"][-1]["end"] or "").startswith(code))
            self.assertIsNone(state["phone"]["sheet"])
            self.press("OK")
            self.window.wait(lambda: not self.window.has(".app-alert"), "the alert is closed")
            self.simulator.do("switch", name=switch, value=not value)

    def test_an_app_without_its_usage_text_ends_and_says_why(self):
        self.open()
        self.simulator.do("switch", name="usage_text", value=False)
        self.press("Scan")
        self.window.wait_text(".app-output", "NFCReaderUsageDescription")
        self.simulator.until(lambda state: not next(app for app in state["apps"] if app["id"] == self.key)["running"])

    def test_a_message_is_deleted_after_a_question(self):
        self.receive(LINK)
        self.press("Delete")
        self.window.wait_text(".app-alert", "Delete This Message?")
        self.window.screenshot("sample-question")
        self.window.button(".app-alert", "Delete")
        self.window.wait_text(".app-text", "Message 1 is deleted.")
        self.window.wait_text(".app-title", "Messages")


class SampleAppInTheBackground(SampleAppTest):
    """Tags that are read while no app scans open their link in the sample app."""

    def tap(self, name):
        self.window.click_in_card(name, ".tap")

    def test_a_banner_opens_the_app_with_the_message(self):
        self.tap(LINK)
        self.window.click(".banner-open")
        self.window.wait_text(".app-title", "Message 1")
        self.window.wait_text(".app-text", "This message came from a card that was held near the reader.")
        self.window.keep("sample-from-banner")

    def test_a_locked_phone_is_unlocked_first(self):
        self.window.button(".phone-controls", "Locked")
        self.window.find(".screen[data-shown=lock]")
        self.tap(LINK)
        self.window.click(".notification-open")
        self.window.click(".prompt-button.filled")
        self.window.wait_text(".app-title", "Message 1")
        self.assertEqual(self.simulator.until(lambda state: not state["phone"]["locked"])["phone"]["front"], self.key)
