# SPDX-License-Identifier: Apache-2.0
from selenium.webdriver.common.keys import Keys

from support.case import BrowserTest
from support.reader import App


class Keyboard(BrowserTest):
    """Everything by the keyboard alone."""

    def attribute(self, name):
        return self.window.focused().get_attribute(name)

    def focus_cards(self):
        """Goes with Tab from the top of the page to the cards."""
        for _ in range(30):
            self.window.press(Keys.TAB)
            if self.attribute("role") == "row":
                return
        self.fail("Tab does not reach the cards")

    def key(self, name):
        return self.simulator.named(name)["id"]

    def wait_near(self, name, near):
        self.window.wait(lambda: self.simulator.named(name)["near"] == near, f"{name} is {'near' if near else 'away'}")

    def test_tab_reaches_every_part_and_each_stop_is_visible(self):
        columns = set()
        self.window.press(Keys.TAB)
        self.assertEqual(self.attribute("class"), "skip")
        for _ in range(60):
            self.window.press(Keys.TAB)
            column, width, outline = self.window.run("""const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
                return [e.closest('.column')?.id ?? null, r.width, s.outlineStyle !== 'none' || s.boxShadow !== 'none']""")
            if self.window.run("return document.activeElement === document.body"):
                break
            columns.add(column)
            self.assertGreater(width, 0)
            self.assertTrue(outline, self.window.run("return document.activeElement.outerHTML.slice(0, 200)"))
        self.assertLessEqual({"drawer", "stage", "inspector"}, columns)

    def test_arrows_go_through_the_cards_and_enter_taps(self):
        self.focus_cards()
        self.window.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        self.assertEqual(self.attribute("data-key"), self.key("Hello in text"))
        # It is near for half a second, so the page itself looks.
        self.window.run("""new MutationObserver(() => { window.wasNear ||= Boolean(document.querySelector('.near-tag')) })
            .observe(document.body, { subtree: true, childList: true })""")
        self.window.press(Keys.ENTER)
        self.window.wait(lambda: self.window.run("return window.wasNear ?? false"), "the tag was near")
        self.wait_near("Hello in text", False)
        self.assertEqual(self.attribute("data-key"), self.key("Hello in text"))

    def test_h_holds_a_tag_and_takes_it_away(self):
        self.focus_cards()
        self.window.press("h")
        self.wait_near("Poster with a link", True)
        self.window.press("h")
        self.wait_near("Poster with a link", False)

    def test_two_presses_of_h_at_once_hold_a_tag_and_take_it_away(self):
        self.focus_cards()
        self.window.press("h", "h")
        self.window.wait_text("[aria-live=polite]", "Poster with a link was taken away.")
        self.wait_near("Poster with a link", False)
        self.window.press("h", "h", "h")
        self.wait_near("Poster with a link", True)

    def test_the_menu_of_a_card_gives_the_focus_back(self):
        self.focus_cards()
        self.window.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ENTER)
        self.window.wait(lambda: self.attribute("role") == "menuitem", "the menu is open")
        self.window.press(Keys.ESCAPE)
        self.window.wait(lambda: "more" in (self.attribute("class") or ""), "the focus is back")

    def test_delete_goes_to_the_next_card(self):
        self.focus_cards()
        self.window.press(Keys.DELETE)
        following = self.key("Empty sticker")
        self.window.wait(lambda: self.attribute("data-key") == following, "the focus is on the next card")
        self.assertIsNone(self.simulator.named("Poster with a link"))

    def test_a_message_is_edited_without_a_pointer(self):
        self.focus_cards()
        self.window.press(Keys.F2)
        self.window.find("dialog [name=text]")
        while self.attribute("name") != "text":
            self.window.press(Keys.TAB)
        self.window.press(Keys.END, "/more", Keys.ENTER)
        self.window.wait_text(".drawer", "https://tagreader.example/hello/more")
        self.window.wait(lambda: self.attribute("role") == "row", "the focus is on the card again")

    def test_single_letters_make_a_tag_lock_the_phone_and_list_the_keys(self):
        self.window.press("l")
        self.window.find(".screen[data-shown=lock]")
        self.window.press("l")
        self.window.find(".screen[data-shown=home]")
        self.window.press("?")
        self.window.wait_text("dialog h2", "Keys")
        self.window.screenshot("keys")
        self.window.press(Keys.ESCAPE)
        self.window.wait(lambda: not self.window.has("dialog"), "the list is closed")
        self.window.press("n")
        self.window.wait_text("dialog h2", "New Tag")

    def test_escape_cancels_the_sheet(self):
        app = App(self.simulator)
        app.open()
        app.begin()
        self.window.find(".sheet[data-state=ready]")
        self.window.press(Keys.ESCAPE)
        self.assertEqual(app.program.event("cancel")["event"], "cancel")
