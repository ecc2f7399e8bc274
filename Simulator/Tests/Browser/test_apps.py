# SPDX-License-Identifier: Apache-2.0
from support.case import BrowserTest
from support.reader import App

LINK = "Poster with a link"


class Apps(BrowserTest):
    """A program in another language is the app on the phone."""

    def setUp(self):
        super().setUp()
        self.app = App(self.simulator, "Tag Reader")

    def test_an_app_shows_its_screen_and_hears_what_is_pressed(self):
        self.app.show({"kind": "row", "id": "first", "text": "https://example.com", "detail": "1 record"}, {"kind": "button", "id": "scan", "text": "Scan"})
        self.window.click(".app")
        self.window.wait_text(".app-title", "Messages")
        self.window.screenshot("app")
        self.window.click(".app-button")
        self.assertEqual(self.app.program.event("press")["item"], "scan")
        self.window.click("button.app-row")
        self.assertEqual(self.app.program.event("press")["item"], "first")

    def test_a_scan_goes_from_the_sheet_to_the_check_mark(self):
        self.app.show({"kind": "button", "id": "scan", "text": "Scan"})
        self.app.open()
        self.app.begin()
        self.window.find(".sheet[data-state=ready]")
        self.window.wait_text(".sheet-message", "Hold the card at the top of the phone.")
        self.window.screenshot("ready-to-scan")
        self.window.click_in_card(LINK, ".hold")
        self.window.find(".near-tag")
        identifier = self.app.activate()
        self.assertEqual(identifier, self.simulator.named(LINK)["uid"].replace(":", "").lower())
        content = self.app.program.frame("nfc-a", "3a040c")["bytes"]
        self.assertIn(b"tagreader.example".hex(), content)
        self.app.program.send(do="event", session=1, kind="callback", name="readerSession(_:didDetectNDEFs:)", detail="1 message")
        self.app.end("success", "The message is in your list.")
        self.window.find(".sheet[data-state=success]")
        self.window.screenshot("success")
        self.window.wait_text(".virtual", "FAST READ")
        self.window.wait_text(".virtual", "readerSession(_:didDetectNDEFs:)")

    def test_a_failure_has_its_mark_and_its_sentence(self):
        self.app.open()
        self.app.begin()
        self.app.end("failure", "The sticker was moved away too early.", error=True)
        self.window.find(".sheet[data-state=failure] .drawing.failure")
        self.window.wait_text(".sheet-message", "The sticker was moved away too early.")
        self.window.screenshot("failure")

    def test_cancel_on_the_sheet_reaches_the_app(self):
        self.app.open()
        self.app.begin()
        self.window.find(".sheet[data-state=ready]")
        self.window.click(".sheet-cancel")
        self.assertEqual(self.app.program.event("cancel")["event"], "cancel")

    def test_the_output_of_a_program_is_shown(self):
        self.window.click(".start-button")
        self.window.wait_text("dialog", "nfc simulator start")
        self.window.button("dialog", "Close")
        self.simulator.local("start_app", command='sh -c "echo hello from a program; exec sleep 60"')
        state = self.simulator.until(lambda state: any("hello from a program" in line for app in state["apps"] for line in app["output"]))
        app = next(app for app in state["apps"] if app["output"])
        self.simulator.do("open_app", app=app["id"])
        self.window.wait_text(".app-output", "hello from a program")
        self.window.screenshot("output")
        self.window.click(".app-back")
        runs = lambda state: next(other for other in state["apps"] if other["id"] == app["id"])["running"]
        self.simulator.until(lambda state: not runs(state))
        # A program that is on the phone is started again from the page.
        self.window.click(".app-back")
        self.simulator.until(runs)
        self.simulator.local("start_app", command="/nowhere/app")
        self.simulator.do("home")
        self.window.find(".app-failed")
        self.window.click(".app:has(.app-failed)")
        self.simulator.until(lambda state: sum("status 127" in line for app in state["apps"] for line in app["output"]) == 2)
        self.window.wait(lambda: self.window.text(".app-output").count("status 127") == 1, "the output of the last run alone is shown")
