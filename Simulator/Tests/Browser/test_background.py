# SPDX-License-Identifier: Apache-2.0
from support.case import BrowserTest

LINK = "Poster with a link"


class BackgroundReading(BrowserTest):
    """Tags that are read while no app scans."""

    def tap(self, name):
        self.window.click_in_card(name, ".tap")

    def test_a_link_shows_a_banner_and_the_inspector_says_why(self):
        self.tap(LINK)
        self.window.find(".banner-open")
        self.assertIn("tagreader.example", self.window.text(".banner"))
        # It leaves by itself, sooner than six pictures are made.
        self.window.keep("banner")
        self.window.click("[data-tab=background]")
        self.window.wait(lambda: len(self.window.all(".why .step")) >= 2, "the rules are listed")
        self.assertIn("https://tagreader.example/hello", self.window.text(".why"))
        self.window.screenshot("why")

    def test_the_figures_begin_with_the_first_tag(self):
        self.assertEqual(self.window.text("#figures"), "")
        self.tap(LINK)
        self.window.wait_text("#figures", "exchange")

    def test_a_hidden_banner_stays_in_the_list_and_can_be_dismissed_there(self):
        self.tap(LINK)
        self.window.click(".banner-hide")
        self.window.wait(lambda: not self.window.has(".banner"), "the banner is gone")
        self.window.click(".pull-button")
        notification = self.window.find(".notification")
        self.assertIn("tagreader.example", notification.text)
        self.assertEqual(self.window.text(".notification-time"), "now")
        self.window.click(".notification [data-key^=dismiss]")
        self.simulator.until(lambda state: state["notifications"] == [])
        self.window.wait(lambda: not self.window.has(".notification"), "the list is empty")

    def test_notifications_are_cleared_at_once(self):
        self.assertFalse(self.window.has(".pull-button:not(.start-button)"), "no button says that there are none")
        for count, name in enumerate((LINK, "Type 4 card", "FeliCa card", "Locked sticker"), 1):
            self.tap(name)
            self.simulator.until(lambda state: len(state["notifications"]) == count)
        self.window.click(".pull-button:not(.start-button)")
        self.window.wait_text(".notification-head", "4 notifications")
        self.window.screenshot("notifications")
        self.window.button(".notification-group", "Show 1 more")
        self.window.wait(lambda: len(self.window.all(".notification")) == 4, "all are shown")
        self.window.button(".notification-head", "Clear all")
        self.simulator.until(lambda state: state["notifications"] == [])
        self.window.wait(lambda: not self.window.has(".pull-button:not(.start-button)"), "the button has left")

    def test_a_notification_is_announced_until_it_is_opened(self):
        self.window.click("[data-tab=background]")
        self.tap(LINK)
        self.window.find(".why-head.announced")
        self.window.click(".banner-open")
        self.window.find(".why-head.opened")
        self.window.screenshot("why-opened")

    def test_a_locked_phone_asks_to_be_unlocked_before_a_link_opens(self):
        self.window.button(".phone-controls", "Locked")
        self.window.find(".screen[data-shown=lock]")
        self.tap(LINK)
        self.window.find(".notification-open")
        self.window.screenshot("locked")
        self.window.click(".notification-open")
        self.window.find(".prompt-button.filled")
        self.window.screenshot("unlock")
        self.window.click(".prompt-button.filled")
        self.window.wait(lambda: not self.window.has(".screen[data-shown=lock]"), "the phone is unlocked")
        self.assertFalse(self.simulator.until(lambda state: not state["phone"]["locked"])["phone"]["locked"])

    def test_the_camera_keeps_tags_from_being_read_and_the_inspector_says_so(self):
        self.window.button(".phone-controls", "Camera")
        self.simulator.until(lambda state: state["phone"]["camera"])
        self.tap(LINK)
        self.window.wait(lambda: not self.simulator.named(LINK)["near"] and self.window.run("return !document.querySelector('.near-tag')"), "the tag has left")
        self.assertFalse(self.window.has(".banner"))
        self.assertEqual(self.simulator.api.state["notifications"], [])

    def test_a_tag_without_a_message_says_why_nothing_opened(self):
        self.tap("Empty sticker")
        self.window.click("[data-tab=background]")
        self.window.wait_text(".why", "Nothing to open")
        self.assertTrue(self.window.has(".why .step.no"))
        self.window.screenshot("why-nothing")
