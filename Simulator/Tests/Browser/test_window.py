# SPDX-License-Identifier: Apache-2.0
from selenium.webdriver.common.keys import Keys

from support.case import BrowserTest
from support.reader import App


class OneWindow(BrowserTest):
    """What a window keeps over a reload, and how its trace follows and its parts are resized."""

    def rows(self, program, count):
        for number in range(count):
            program.send(do="event", kind="callback", name=f"call {number}")

    def test_a_reload_keeps_tab_tag_search_and_position(self):
        self.window.click_in_card("Hello in text", ".card-name")
        self.window.click("[data-tab=memory]")
        field = self.window.find(".drawer-search input")
        field.send_keys("text")
        self.window.find(".trace-search, .memory")
        self.window.run("document.querySelector('.drawer .column-scroll').scrollTop = 30")
        self.window.wait(lambda: self.window.run("return history.state?.['drawer-search']") == "text", "the search is kept")
        self.window.driver.refresh()
        self.window.find("[data-tab=memory][aria-selected=true]")
        self.window.wait(lambda: self.window.run("return document.querySelector('.card[aria-selected=true] .card-name')?.textContent") == "Hello in text", "the tag is selected")
        self.assertEqual(self.window.find(".drawer-search input").get_attribute("value"), "text")

    def test_the_trace_follows_and_counts_what_it_does_not_show(self):
        program = self.simulator.program("Caller")
        self.rows(program, 100)
        self.window.wait_text(".trace-count", "10")
        self.window.wait_text(".virtual", "call 99")
        self.window.run("document.querySelector('.virtual').scrollTop = 0")
        self.window.wait(lambda: self.window.run("return document.querySelector('.virtual .virtual-row[data-index=\"0\"]') !== null"), "the first rows are drawn")
        self.rows(program, 12)
        self.window.wait_text(".follow", "12 new rows")
        self.window.screenshot("new-rows")
        self.window.click(".follow")
        self.window.wait(lambda: not self.window.has(".follow"), "the new rows are seen")
        # A lower trace still follows.
        self.window.resize(1280, 640)
        self.rows(program, 4)
        self.window.wait_text(".trace-count", "116")
        self.assertFalse(self.window.has(".follow"))

    def test_the_phone_its_controls_and_cancel_are_in_sight_in_small_windows(self):
        program = self.simulator.program("Reader")
        program.ask("claim")
        program.send(do="sheet", state="ready", title="Ready to Scan", message="Hold the card at the phone.")
        for name in ("Type 4 card", "FeliCa card", "Guest Wi-Fi"):
            self.simulator.do("hold", tag=self.simulator.named(name)["id"])
        self.window.find(".sheet-layer.shown .sheet-cancel")
        for width, height in ((1366, 768), (1280, 720), (1920, 1080)):
            self.window.resize(width, height)
            self.window.settle()
            self.window.keep(f"small-{width}")
            self.assertGreater(self.window.find(".trace-search").rect["width"], 200)
            for selector in (".device", ".sheet-cancel", ".phone-controls", ".condition:last-child", ".near-tags", ".virtual-row.head .tag"):
                box = self.window.find(selector).rect
                self.assertGreaterEqual(box["y"], 0, selector)
                self.assertLessEqual(box["y"] + box["height"], height, f"{selector} at {width}")

    def test_writes_and_anticollision_are_folded_until_they_are_asked_for(self):
        app = App(self.simulator)
        self.simulator.do("hold", tag=self.simulator.named("Empty sticker")["id"])
        app.begin()
        app.activate()
        for page in range(4, 12):
            app.program.frame("nfc-a", f"a2{page:02x}00000000")
        self.window.wait_text(".row-fold", "+ 7 rows")
        self.window.wait_text(".row-fold", "+ 3 rows")
        self.window.screenshot("folded")
        writes = lambda: [row for row in self.window.all(".virtual-row.write") if row.is_displayed()]
        self.assertEqual(len(writes()), 1)
        self.window.click_on(lambda: writes()[0].find_element("css selector", ".row-fold"), "the writes are folded")
        self.window.wait(lambda: len(writes()) == 8, "the writes are shown")
        self.window.find(".virtual").send_keys(Keys.ENTER)
        self.window.wait(lambda: len(writes()) == 1, "the writes are folded again")

    def test_long_rows_wrap_on_demand_and_still_do_after_a_reload(self):
        program = self.simulator.program("Caller")
        for number in range(60):
            program.send(do="event", kind="callback", name=f"call {number}", detail=("long words " * 40).strip() if number % 3 == 0 else "short")
        self.window.wait_text(".virtual", "call 59")
        heights = lambda: self.window.run("return [...document.querySelectorAll('.virtual-space .virtual-row')].map((row) => row.offsetHeight)")
        self.assertEqual(set(heights()), {28})
        self.window.button(".trace-bar", "Wrap")
        self.window.wait(lambda: max(heights()) > 56 and min(heights()) == 28, "long rows are high, and short ones are not")
        self.window.keep("wrapped")
        rows = """const list = document.querySelector('.virtual').getBoundingClientRect();
            const rows = [...document.querySelectorAll('.virtual-space .virtual-row')].map((row) => [Number(row.dataset.index), row.getBoundingClientRect()]);
            rows.sort(([one], [other]) => one - other);
            return [rows.slice(1).every(([index, box], place) => index !== rows[place][0] + 1 || Math.abs(box.top - rows[place][1].bottom) < 1), rows.at(-1)[0], Math.round(rows.at(-1)[1].bottom - list.bottom)]"""
        self.window.wait(lambda: self.window.run(rows)[0], "each row begins where the row above ends")
        self.window.find(".virtual").send_keys(Keys.HOME)
        for _ in range(31):
            self.window.find(".virtual").send_keys(Keys.ARROW_DOWN)
        box = self.window.run("return [document.querySelector('.virtual').getBoundingClientRect(), document.querySelector('.virtual-row[data-index=\"31\"]').getBoundingClientRect()]")
        self.assertTrue(box[0]["top"] <= box[1]["top"] and box[1]["bottom"] < box[0]["bottom"] + 1, "the active row is in sight")
        self.window.find(".virtual").send_keys(Keys.END)
        self.window.wait(lambda: self.window.run(rows) == [True, 59, 0], "the trace ends at the end of its last row")
        self.window.driver.refresh()
        self.window.wait(lambda: max(heights(), default=0) > 56, "the rows wrap")
        self.window.button(".trace-bar", "Wrap")
        self.window.wait(lambda: set(heights()) == {28}, "each row is one line")

    def test_an_empty_trace_says_what_will_come_and_times_can_be_differences(self):
        self.assertIn("Each exchange with a tag appears here", self.window.find(".trace .empty").text)
        self.window.keep("empty-trace")
        self.rows(self.simulator.program("Caller"), 3)
        self.window.wait(lambda: not self.window.has(".trace .empty"), "the trace has rows")
        times = lambda: [cell.text for cell in self.window.all(".virtual-space .cell.time")]
        self.window.button(".trace-bar", "Δ t")
        self.window.wait(lambda: len(times()) >= 3 and all(time.startswith("+") for time in times()[1:]), "the times are differences")
        self.assertFalse(times()[0].startswith("+"), "the first row has no row before")

    def test_what_is_searched_for_in_the_trace_is_marked(self):
        self.rows(self.simulator.program("Caller"), 20)
        self.window.wait_text(".virtual", "call 19")
        marked = lambda: self.window.run("return [...CSS.highlights.get('found')].map(String)")
        field = self.window.find(".trace-search input")
        field.send_keys("CALL 1")
        self.window.wait(lambda: marked() == ["call 1"] * 11, "each match is marked")
        self.window.keep("marked")
        field.clear()
        field.send_keys("no such row")
        self.window.wait(lambda: marked() == [], "nothing is marked")
        self.assertEqual(self.window.find(".trace .empty").text, "No row matches the filter.")

    def test_a_column_and_the_details_are_resized_with_the_keys(self):
        width = lambda: self.window.find(".drawer").rect["width"]
        before = width()
        self.window.run("document.querySelector('.splitter.drawer-width').focus()")
        self.window.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        self.window.wait(lambda: width() == before + 32, "the column is wider")
        self.window.driver.refresh()
        self.window.wait(lambda: width() == before + 32, "the width is kept")
