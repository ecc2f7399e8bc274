# SPDX-License-Identifier: Apache-2.0
import time

from support.case import BrowserTest
from support.reader import App


class Quiet(BrowserTest):
    """What the page does not do: move, work, or ask the network."""

    def test_nothing_moves_where_the_system_says_so(self):
        app = App(self.simulator)
        app.open()
        self.window.media(motion=False)
        app.begin()
        self.window.find(".sheet[data-state=ready]")
        moving = self.window.run("""return document.getAnimations().filter(a => a.playState === 'running'
            && (a.effect.getComputedTiming().duration > 50 || a.effect.getTiming().iterations === Infinity)).map(a => a.animationName ?? a.transitionProperty)""")
        self.assertEqual(moving, [])

    def test_the_sheet_moves_where_motion_is_welcome(self):
        self.window.media(motion=True)
        app = App(self.simulator)
        app.open()
        app.begin()
        self.window.find(".sheet[data-state=ready]")
        self.window.wait(lambda: self.window.run("return document.getAnimations().some(a => a.playState === 'running')"), "something moves")

    def test_an_idle_page_uses_no_processor(self):
        driver = self.window.driver
        self.simulator.do("tap", tag=self.simulator.named("Poster with a link")["id"], ms=200)
        self.window.find(".banner")
        self.window.settle()
        driver.execute_cdp_cmd("Performance.enable", {})

        def figures():
            return {item["name"]: item["value"] for item in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}

        def is_idle():
            # A span of time is what is measured here, and nothing is awaited.
            before = figures()
            time.sleep(2)
            after = figures()
            self.used = after["ScriptDuration"] - before["ScriptDuration"], after["TaskDuration"] - before["TaskDuration"]
            return self.used[0] < 0.02 and self.used[1] < 0.1

        # What a tap has begun may still end in the first span, and other programs may interrupt one.
        spans = [is_idle() for _ in range(2)]
        while len(spans) < 8 and spans[-2:] != [True, True]:
            spans.append(is_idle())
        self.assertEqual(spans[-2:], [True, True], f"in 2 s, scripts took {self.used[0]} s, all tasks {self.used[1]} s")

    def test_nothing_comes_from_the_network(self):
        hosts = self.window.run("return [...new Set(performance.getEntriesByType('resource').map(e => new URL(e.name).host))]")
        self.assertEqual(hosts, [self.simulator.host])
