# SPDX-License-Identifier: Apache-2.0
from support.case import BrowserTest
from support.reader import App
from support.simulator import simulator_client

COUNT = 10_000
STEPS = 120


class LongTrace(BrowserTest):
    """A trace with ten thousand exchanges is searched, and drawn where it is looked at."""

    def test_ten_thousand_rows_are_searched_and_only_those_in_view_are_in_the_page(self):
        app = App(self.simulator)
        self.simulator.do("switch", name="instant", value=True)
        self.simulator.do("hold", tag=self.simulator.named("Poster with a link")["id"])
        app.begin()
        app.activate()
        line = b'{"id":1,"do":"frame","technology":"nfc-a","bytes":"3004","timeout_us":5000}\n'
        for _ in range(COUNT // 100):
            app.program.socket.sendall(line * 100)
            answers = 0
            while answers < 100:
                answers += app.program.line().get("id") == 1
        self.window.wait(lambda: self.simulator.do("trace_find", text="READ 04")["rows"] and self.window.run(
            "return document.querySelector('.virtual')?.scrollHeight ?? 0") > COUNT * 20, "the page has all rows")
        driver = self.window.driver
        driver.execute_cdp_cmd("Performance.enable", {})

        def work():
            figures = {item["name"]: item["value"] for item in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
            return sum(figures[name] for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration"))

        def scroll():
            return self.window.run_async("""
                const [steps, done] = arguments;
                const list = document.querySelector('.virtual');
                list.scrollTop = list.scrollHeight;
                let step = 0;
                requestAnimationFrame(function frame() {
                    step += 1;
                    // As fast as a person turns a wheel, and a jump now and then.
                    list.scrollTop = step % 40 === 0 ? list.scrollHeight * step / steps : list.scrollTop - 300;
                    if (step < steps) requestAnimationFrame(frame);
                    else done(list.querySelectorAll('.virtual-row').length);
                });""", STEPS)
        before = work()
        rows = scroll()
        # A figure to look at: how long a frame takes depends on what else the computer does.
        print(f"a frame of scrolling takes {(work() - before) / STEPS * 1e3:.1f} ms")
        self.assertLess(rows, 120, "only the rows that can be seen are in the page")

    def test_the_silence_that_a_command_asks_for_is_not_red_and_a_long_time_fits(self):
        app = App(self.simulator)
        self.simulator.do("hold", tag=self.simulator.named("Poster with a link")["id"])
        app.begin()
        app.activate()
        for command in ("5000", "3004"):
            with self.assertRaises(simulator_client.Failure):
                app.program.frame("nfc-a", command)
        self.window.wait(lambda: len(self.window.all(".virtual-row.failed")) == 1, "the command that fails is red")
        self.assertNotIn("HLTA", self.window.text(".virtual-row.failed"))
        self.assertIn("HLTA", self.window.text(".virtual-row"))
        cell = "document.querySelector('.virtual-space .cell.time')"
        self.window.run(f"{cell}.textContent = '12,345.678'")
        self.assertTrue(self.window.run(f"return {cell}.scrollWidth <= {cell}.clientWidth"), "the milliseconds are seen")
