# SPDX-License-Identifier: Apache-2.0
from support.case import BrowserTest
from support.reader import App
from support.simulator import simulator_client

STICKER = "Empty sticker"


class Conditions(BrowserTest):
    """What can go wrong, switched on the page, and what a program then gets."""

    def setUp(self):
        super().setUp()
        self.app = App(self.simulator)
        self.window.find(".conditions[open]")

    def switch(self, label, number=None):
        """Switches a condition by its label."""
        def part(selector):
            item = next(item for item in self.window.all(".condition") if item.find_element("css selector", "label").text == label)
            self.window.run("arguments[0].scrollIntoView({ block: 'center' })", item)
            return item.find_element("css selector", selector)
        self.window.click_on(lambda: part("input[role=switch]"), f"there is a condition {label!r}")
        if number is not None:
            self.window.wait(lambda: part("input[type=number]").is_enabled(), "the number can be set")
            self.window.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", part("input[type=number]"), number)

    def set_to(self, name, value):
        self.simulator.until(lambda state: state["switches"][name] == value)

    def hold(self, name=STICKER):
        self.simulator.do("hold", tag=self.simulator.named(name)["id"])

    def failure(self, *request, **values):
        with self.assertRaises(simulator_client.Failure) as caught:
            self.app.program.ask(*request, **values)
        return caught.exception.code

    def test_radio_off_and_a_busy_reader_are_told_to_the_program(self):
        self.switch("Radio off")
        self.set_to("radio", False)
        self.assertEqual(self.failure("claim", **{"for": "session"}), "radio-disabled")
        self.window.wait_text(".conditions summary", "Radio off")
        self.switch("Radio off")
        self.switch("Reader busy")
        self.set_to("busy", True)
        self.set_to("radio", True)
        self.assertEqual(self.failure("claim", **{"for": "session"}), "system-is-busy")
        self.window.screenshot("conditions")

    def test_a_torn_write_leaves_a_damaged_page(self):
        self.switch("Tears write", 2)
        self.set_to("tear_write", 2)
        self.hold()
        self.app.begin()
        self.app.activate()
        self.app.program.frame("nfc-a", "a20a11223344")
        with self.assertRaises(simulator_client.Failure):
            self.app.program.frame("nfc-a", "a20b55667788")
        self.simulator.do("leave")
        regions = self.simulator.do("memory", tag=self.simulator.named(STICKER)["id"])["regions"]
        memory = bytearray(0x0d * 4)
        for region in regions:
            data = bytes.fromhex(region["bytes"])
            memory[region["offset"]:region["offset"] + len(data)] = data
        self.assertEqual(memory[0x28:0x2c].hex(), "11223344")
        self.assertNotEqual(memory[0x2c:0x30].hex(), "55667788")
        self.window.click_in_card(STICKER, ".card-name")
        self.window.click("[data-tab=memory]")
        self.window.wait(lambda: self.window.has(".bytes .changed"), "the map marks what changed")
        self.window.screenshot("torn-write")

    def test_a_tag_leaves_after_so_many_exchanges(self):
        self.switch("Leaves after", 3)
        self.window.wait_text(".conditions summary", "Leaves after 3")
        self.hold()
        self.app.begin()
        with self.assertRaises(simulator_client.Failure) as caught:
            self.app.activate()
        self.assertEqual(caught.exception.code, "timeout")
        self.window.wait(lambda: not self.window.has(".near-tag"), "the tag has left")

    def test_a_person_who_always_cancels_ends_each_sheet(self):
        self.switch("User cancels")
        self.set_to("user_cancels", True)
        self.app.open()
        self.app.program.ask("claim", **{"for": "session"})
        self.app.sheet("ready", "Hold the card at the phone.")
        self.assertEqual(self.app.program.event("cancel")["event"], "cancel")

    def test_all_as_usual_takes_every_condition_back(self):
        for label in ("Radio off", "Weak field", "No airtime"):
            self.switch(label)
        self.set_to("instant", True)
        self.window.button(".conditions", "All normal")
        self.simulator.until(lambda state: state["switches"]["radio"] and not state["switches"]["weak_field"] and not state["switches"]["instant"])
        self.window.wait_text(".set-conditions", "All normal")
