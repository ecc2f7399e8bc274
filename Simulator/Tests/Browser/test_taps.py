# SPDX-License-Identifier: Apache-2.0
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from support.case import BrowserTest

LINK = "Poster with a link"


class Taps(BrowserTest):
    """Bringing tags near with the pointer."""

    def is_near(self, name=LINK):
        return self.simulator.named(name)["near"]

    def wait_near(self, near, name=LINK):
        self.window.wait(lambda: self.is_near(name) == near, f"{name} is {'near' if near else 'away'}")

    def zone(self):
        return self.window.find("#field-zone")

    def start_drag(self, name=LINK):
        handle = self.window.card(name).find_element(By.CSS_SELECTOR, ".card-name")
        self.window.drag().move_to_element(handle).click_and_hold().move_by_offset(30, 10).move_to_element(self.zone()).perform()

    def test_a_tap_brings_a_tag_near_and_takes_it_away_by_itself(self):
        # Half a second may be shorter than the time between two looks from here.
        self.window.run("""new MutationObserver(() => { window.wasNear ||= Boolean(document.querySelector('.near-tag')) })
            .observe(document.body, { subtree: true, childList: true })""")
        self.window.click_in_card(LINK, ".tap")
        self.window.wait(lambda: self.window.run("return window.wasNear"), "the tag is near")
        self.wait_near(False)
        self.assertGreater(self.simulator.api.state["summary"]["exchanges"], 0)

    def test_hold_keeps_a_tag_near_until_it_is_taken_away(self):
        self.window.click_in_card(LINK, ".hold")
        self.wait_near(True)
        self.window.wait(lambda: "Take away" in self.window.card(LINK).find_element(By.CSS_SELECTOR, ".hold").text, "the button takes it away")
        self.window.screenshot("held")
        self.window.click_in_card(LINK, ".hold")
        self.wait_near(False)

    def test_the_card_of_a_tag_says_that_it_is_near_while_it_is(self):
        has_badge = lambda: bool(self.window.card(LINK).find_elements(By.CSS_SELECTOR, ".badge.near"))
        self.assertFalse(has_badge())
        self.simulator.do("hold", tag=self.simulator.named(LINK)["id"])
        self.window.wait(has_badge, "the badge is there")
        self.simulator.do("leave")
        self.window.wait(lambda: not has_badge(), "the badge is gone")

    def test_several_tags_are_near_at_once(self):
        for name in (LINK, "Type 4 card", "FeliCa card"):
            self.window.click_in_card(name, ".hold")
        self.window.wait(lambda: len(self.window.all(".near-tag")) == 3, "three tags are near")
        self.window.screenshot("three-tags")

    def test_a_dragged_tag_is_near_while_it_is_at_the_phone(self):
        self.start_drag()
        self.wait_near(True)
        self.window.screenshot("drag")
        self.window.drag().move_by_offset(300, 300).perform()
        self.wait_near(False)
        self.window.drag().release().perform()

    def test_a_tag_that_is_dropped_at_the_phone_stays_until_it_is_dragged_away(self):
        self.start_drag()
        self.window.drag().release().perform()
        self.wait_near(True)
        handle = self.window.find(".near-tag .near-name")
        self.window.drag().move_to_element(handle).click_and_hold().move_by_offset(0, 300).release().perform()
        self.wait_near(False)

    def test_escape_puts_a_dragged_tag_back(self):
        self.start_drag()
        self.wait_near(True)
        self.window.press(Keys.ESCAPE)
        self.wait_near(False)
        self.window.drag().release().perform()
        self.assertFalse(self.is_near())

    def test_the_page_says_why_a_phone_can_not_read_a_tag(self):
        self.window.click_in_card("Old door card", ".hold")
        self.window.wait_text(".field-reasons", "Old door card")
        self.assertIn("MIFARE Classic", self.window.text(".field-reasons"))
        self.window.screenshot("phone-can-not")
