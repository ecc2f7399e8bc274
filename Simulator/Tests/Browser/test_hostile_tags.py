# SPDX-License-Identifier: Apache-2.0
from support.case import BrowserTest

SCRIPT = "<script>window.taken = true</script><img src=x onerror=\"window.taken = true\">"


class HostileTags(BrowserTest):
    """Text of strangers is shown as text."""

    def make(self, name, text):
        tag = self.simulator.do("new_tag", product="generic Type 4", size=32000, name=name, records=[{"kind": "text", "text": text, "language": "en"}])["tag"]
        self.window.wait(lambda: self.window.run("return !!document.querySelector(`.card[data-key='${arguments[0]}']`)", tag), "its card is there")
        return tag

    def show_message(self, tag):
        self.window.run("document.querySelector(`.card[data-key='${arguments[0]}'] .card-name`).click()", tag)
        self.window.click("[data-tab=message]")

    def test_a_script_on_a_tag_is_text_everywhere(self):
        tag = self.make(SCRIPT, SCRIPT)
        self.window.wait_text(".drawer", "<script>")
        self.show_message(tag)
        self.window.wait_text(".panel.message", "window.taken")
        self.simulator.do("tap", tag=tag, ms=200)
        program = self.simulator.program(SCRIPT)
        program.send(do="screen", screen={"title": SCRIPT, "items": [{"kind": "row", "id": "a", "text": SCRIPT, "detail": SCRIPT}]})
        self.simulator.do("open_app", app=self.simulator.until(lambda state: state["apps"])["apps"][0]["id"])
        self.window.wait_text(".app-title", "<script>")
        program.send(do="sheet", state="ready", title="Ready to Scan", message=SCRIPT, shows_error_symbol=False)
        self.window.wait_text(".sheet-message", "<script>")
        self.window.screenshot("hostile")
        self.assertIsNone(self.window.run("return window.taken ?? null"))
        self.assertEqual(self.window.run("return document.querySelectorAll('script:not([src]), img').length"), 0)

    def test_controls_and_marks_of_direction_are_seen(self):
        tag = self.make("evil\u202egnp.exe", "a\u202eb\u0007c\u200bd")
        self.show_message(tag)
        self.window.wait_text(".panel.message", "a\\u{202e}b\\u{7}c\\u{200b}d")
        self.assertRegex(self.window.text(".drawer"), r"evil(\\u\{202e\}|\ufffd)gnp\.exe")
        self.assertNotIn("\u202e", self.window.text("body"))
        self.assertNotIn("\u202e", self.window.run("return [...document.querySelectorAll('[aria-label]')].map(e => e.getAttribute('aria-label')).join()"))

    def test_text_from_right_to_left_leaves_the_page_as_it_is(self):
        before = self.window.find(".card .tap").rect
        tag = self.make("בדיקה 123", "שלום עולם!")
        self.show_message(tag)
        self.window.wait_text(".panel.message", "שלום עולם")
        self.assertEqual(self.window.find(".card .tap").rect["x"], before["x"])
        self.assertEqual(self.window.run("return [...document.querySelectorAll('.card-name')].filter(e => e.textContent.includes('בדיקה')).map(e => e.querySelector('bdi') !== null)"), [True])
        self.window.screenshot("right-to-left")

    def test_a_very_long_text_is_cut_and_breaks_no_layout(self):
        tag = self.make("n" * 100, "W" * 20000)
        self.show_message(tag)
        self.window.wait_text(".panel.message", "Show all (20,000 characters)")
        for width in (360, 1280):
            self.window.resize(width, 800)
            wide, inner = self.window.run("return [document.documentElement.scrollWidth, innerWidth]")
            self.assertLessEqual(wide, inner)
        self.window.screenshot("very-long")
