# SPDX-License-Identifier: Apache-2.0
from support.accessibility import RULES, violations
from support.case import BrowserTest
from support.reader import App

WIDTHS = {360: 740, 1280: 860, 2560: 1400}


class Accessibility(BrowserTest):
    """axe finds nothing, at three widths, light and dark."""

    def check(self, name):
        with self.subTest(name):
            # In dark, only the colors are others.
            for scheme, rules in (("dark", ["color-contrast"]), ("light", RULES)):
                self.window.media(scheme)
                self.window.keep(f"{name}-{scheme}")
                self.assertEqual(violations(self.window, rules), [], scheme)
            wide, inner = self.window.run("return [document.documentElement.scrollWidth, innerWidth]")
            self.assertLessEqual(wide, inner, "the page is wider than its window")

    def prepare(self):
        """A phone with a session on it, and a trace."""
        self.simulator.do("tap", tag=self.simulator.named("Poster with a link")["id"], ms=200)
        self.simulator.until(lambda state: not any(tag["near"] for tag in state["tags"]))
        app = App(self.simulator, "Tag Reader")
        app.show({"kind": "row", "id": "first", "text": "https://example.com", "detail": "1 record"}, {"kind": "button", "id": "scan", "text": "Scan"})
        app.open()
        self.simulator.do("hold", tag=self.simulator.named("Empty sticker")["id"])
        app.begin()
        app.activate()
        self.window.find(".sheet[data-state=ready]")
        return app

    def show(self, view):
        """Shows a column where the window shows one at a time."""
        def find():
            return next((e for e in self.window.all(".view") if e.is_displayed() and e.text.strip().lower() == view), None)
        if find() is None:
            return False
        self.window.click_on(find, f"the column {view!r} can be shown")
        return True

    def test_axe_finds_nothing_in_a_session_and_the_inspector(self):
        self.prepare()
        for width, height in WIDTHS.items():
            self.window.resize(width, height)
            # A wide window shows all columns at once.
            if self.show("tags"):
                self.check(f"tags-{width}")
                self.show("phone")
                self.check(f"scan-{width}")
            self.show("inspector")
            cut = self.window.run("""return [...document.querySelectorAll('.inspector > .tabs .tab')].filter(tab => {
                const list = tab.parentElement.getBoundingClientRect(), own = tab.getBoundingClientRect();
                return own.right > list.right + 1 || tab.scrollWidth > tab.clientWidth + 1; }).map(tab => tab.textContent)""")
            self.assertEqual(cut, [], f"tabs are cut off at {width}")
            for tab in ("memory", "message", "background", "trace"):
                # A wide window shows the trace beside the other parts, without a tab.
                if tab != "trace" or self.window.has("[data-tab=trace]"):
                    self.window.click(f"[data-tab={tab}]")
                if tab == "trace" or width == 1280:
                    self.check(f"{tab}-{width}")
            self.show("phone")

    def test_axe_finds_nothing_in_the_home_screen_the_lock_screen_and_the_screen_that_is_off(self):
        self.simulator.do("tap", tag=self.simulator.named("Poster with a link")["id"], ms=200)
        self.window.find(".banner")
        self.check("home")
        self.simulator.do("lock")
        self.window.find(".screen[data-shown=lock]")
        self.check("lock-screen")
        self.simulator.do("screen", on=False)
        self.window.find(".screen[data-shown=off]")
        self.check("screen-off")

    def test_axe_finds_nothing_in_dialogs_menus_and_notices(self):
        self.window.click("#new-tag")
        self.window.find("dialog[open]")
        self.check("dialog-new-tag")
        self.window.button("dialog", "Cancel")
        self.window.choose("Business card", "Edit Message")
        self.window.find("dialog[open]")
        self.check("dialog-edit")
        self.window.button("dialog", "Cancel")
        self.window.click_in_card("Business card", ".more")
        self.window.find("[role=menu]")
        self.check("menu")
        self.window.menu_item("Delete")
        self.window.wait_text("#notices", "was deleted")
        self.check("notice")
