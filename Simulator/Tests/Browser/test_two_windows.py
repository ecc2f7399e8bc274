# SPDX-License-Identifier: Apache-2.0
from support.case import BrowserTest
from support.window import Browser, Window


class TwoWindows(BrowserTest):
    """The state is the server's, so that two windows show the same."""

    def test_what_one_window_does_the_other_shows(self):
        browser = Browser()
        self.addCleanup(browser.close)
        other = Window(browser, 820, 1000, "dark").open(self.simulator.address)
        self.window.choose("Empty sticker", "Rename")
        field = self.window.find("dialog input")
        field.clear()
        field.send_keys("Renamed elsewhere")
        self.window.button("dialog", "Rename")
        other.wait_text(".drawer", "Renamed elsewhere")
        other.button(".phone-controls", "Locked")
        self.window.find(".screen[data-shown=lock]")
        other.screenshot("second-window")

    def test_a_reload_loses_nothing(self):
        self.window.click_in_card("Poster with a link", ".hold")
        self.window.find(".near-tag")
        self.window.find(".banner")
        rows = self.window.run("return document.querySelector('.trace-count').textContent")
        self.window.driver.refresh()
        self.window.find(".near-tag")
        # It leaves by itself after a while, which may be over by now.
        self.window.wait(lambda: self.window.has(".banner") or self.simulator.until(lambda state: True)["phone"]["banner"] is None,
                         "the banner is there, or has left")
        self.window.wait_text(".trace-count", rows.split(" of ")[0])
        self.assertNotIn("token", self.window.driver.current_url)
