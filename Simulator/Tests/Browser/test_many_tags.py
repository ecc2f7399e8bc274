# SPDX-License-Identifier: Apache-2.0
from support.case import BrowserTest

COUNT = 500


class ManyTags(BrowserTest):
    """A full drawer is searched, filtered and added to without a wait."""

    def make_simulator(self):
        simulator = super().make_simulator()
        # Without a page, which would draw each of them.
        for number in range(len(simulator.api.state["tags"]), COUNT - 1):
            simulator.do("new_tag", product="NTAG213", name=f"Tag {number}", link=f"https://example.com/{number}")
        return simulator

    def test_a_full_drawer_is_searched_and_a_new_tag_is_in_sight(self):
        self.window.wait_text(".count", str(COUNT - 1))
        search = """
            const [text, done] = arguments;
            const field = document.querySelector('.drawer-search input');
            const start = performance.now();
            field.value = text;
            field.dispatchEvent(new Event('input'));
            document.querySelector('.cards').getBoundingClientRect();
            const time = performance.now() - start;
            requestAnimationFrame(() => done([time, [...document.querySelectorAll('.card')].filter((card) => !card.hidden).length]));"""
        for text, count in [("tag 49", 10), ("", COUNT - 1), ("felica", 2)]:
            time, shown = self.window.run_async(search, text)
            # A figure to look at: how long it takes depends on what else the computer does.
            print(f"a search for {text!r} among {COUNT} tags takes {time:.0f} ms")
            self.assertEqual(shown, count)
        # The search would hide the new tag.
        self.window.click("#new-tag")
        self.window.find("dialog [name=text]")
        self.window.run("""new MutationObserver(() => { window.drawn ??= performance.now() }).observe(document.querySelector('.cards'), { childList: true });
            addEventListener('click', () => { window.clicked = performance.now() }, true)""")
        self.window.button("dialog", "Create")
        self.window.wait_text(".count", str(COUNT))
        print(f"a new tag among {COUNT} takes {self.window.run('return window.drawn - window.clicked'):.0f} ms")
        self.window.wait(lambda: self.window.run("""const card = document.querySelector('.card[aria-selected=true]').getBoundingClientRect();
            const list = document.querySelector('.drawer .column-scroll').getBoundingClientRect();
            return card.top >= list.top - 1 && card.bottom <= list.bottom + 1"""), "the new tag is in sight")
        self.window.screenshot("many-tags")
        self.window.click("[aria-label='Compact list']")
        self.window.screenshot("compact")
        self.window.run("const kind = document.querySelector('.drawer-filter select'); kind.value = '3'; kind.dispatchEvent(new Event('input'))")
        self.window.wait_text(".count", f"1 of {COUNT}")
