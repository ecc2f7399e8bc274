# SPDX-License-Identifier: Apache-2.0
import base64

from support.case import BrowserTest

# The example of ICAO Doc 9303, part 4, with another name, which no check digit covers.
ZONE = "P<UTODOE<<JANE<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10"


class Editing(BrowserTest):
    """New tags, and what a person changes on tags."""

    def choose_product(self, name):
        self.window.click("#new-tag")
        self.window.find("dialog select")
        self.window.run("""const select = document.querySelector('dialog select'); select.value = arguments[0];
            select.dispatchEvent(new Event('change'))""", name)

    def create(self):
        self.window.button("dialog", "Create")
        self.window.wait(lambda: not self.window.has("dialog"), f"the dialog closes, but it says {self.window.text('dialog .form-problem')!r}")

    def test_a_new_tag_with_a_link(self):
        self.window.click("#new-tag")
        field = self.window.find("dialog [name=text]")
        field.clear()
        field.send_keys("https://example.org/new")
        self.window.screenshot("new-tag")
        self.create()
        self.window.wait_text(".drawer", "https://example.org/new")
        made = self.simulator.named("NTAG215")
        self.assertEqual((made["product"], made["message"][0]["text"]), ("NTAG215", "https://example.org/new"))

    def test_a_product_of_each_type_can_be_made(self):
        products = {product.get("tag_type"): product["name"] for product in self.simulator.do("products")["products"]}
        self.assertGreater(len(products), 4)
        count = len(self.simulator.api.state["tags"])
        for number, product in enumerate(products.values(), 1):
            with self.subTest(product):
                self.choose_product(product)
                self.create()
                made = self.simulator.until(lambda state: len(state["tags"]) == count + number)["tags"][-1]
                # Sizes of one product have one name on the card.
                self.assertTrue(product.startswith(made["product"]))

    def test_a_travel_document_is_made_from_its_zone(self):
        self.choose_product("eMRTD")
        self.window.find("dialog textarea.mono")
        self.window.run("document.querySelector('dialog textarea.mono').value = arguments[0]", ZONE)
        self.window.screenshot("new-document")
        known = {tag["id"] for tag in self.simulator.api.state["tags"]}
        self.create()
        tags = self.simulator.until(lambda state: len(state["tags"]) == len(known) + 1)["tags"]
        made = next(tag for tag in tags if tag["id"] not in known)
        self.assertEqual(made["product"], "eMRTD")
        image = base64.b64decode(self.simulator.do("export_tag", tag=made["id"], format="json")["base64"])
        self.assertIn(b"P<UTODOE<<JANE<", image)

    def test_an_edited_message_is_on_the_tag_and_marked_in_the_memory(self):
        self.window.choose("Poster with a link", "Edit Message")
        field = self.window.find("dialog [name=text]")
        self.assertEqual(field.get_attribute("value"), "https://tagreader.example/hello")
        field.clear()
        field.send_keys("https://example.org/edited")
        self.window.screenshot("edit")
        self.window.button("dialog", "Save")
        self.window.wait_text(".drawer", "https://example.org/edited")
        self.assertEqual(self.simulator.named("Poster with a link")["message"][0]["text"], "https://example.org/edited")
        self.window.click("[data-tab=memory]")
        self.window.wait(lambda: self.window.has(".panel.memory mark.changed, .panel.memory .bytes .changed"), "the memory shows what changed")
        self.window.screenshot("memory")

    def test_an_error_names_its_field_and_goes_when_it_is_corrected(self):
        self.window.choose("Poster with a link", "Edit Message")
        self.window.click("dialog [data-tab=bytes]")
        field = self.window.find("dialog textarea.mono")
        field.clear()
        field.send_keys("d1 0")
        self.window.button("dialog", "Save")
        self.window.wait_text("dialog .form-problem", "message in hex")
        self.assertEqual(field.get_attribute("aria-invalid"), "true")
        field.send_keys("1 01 54 01 00")
        self.assertEqual((self.window.text("dialog .form-problem"), field.get_attribute("aria-invalid")), ("", "false"))
        # Damaged: it ends within its record.
        field.clear()
        field.send_keys("d1 01 09 54 02 65")
        self.window.button("dialog", "Save")
        self.window.wait(lambda: not self.window.has("dialog"), "the dialog closes")
        self.window.click("[data-tab=message]")
        self.window.wait_text(".panel.message", "ends at byte 6, before record 1")
        self.window.wait_text(".panel.message mark.changed", "end")
        self.window.screenshot("damaged")

    def test_forms_begin_with_what_is_on_the_tag_and_save_it_unchanged(self):
        kinds = {"Business card": ["contact"], "Guest Wi-Fi": ["wifi"], "Hello in text": ["text"], "Type 4 card": ["link", "text"]}
        for name, expected in kinds.items():
            with self.subTest(name):
                tag = self.simulator.named(name)["id"]
                before = self.simulator.do("message", tag=tag)["hex"]
                self.window.choose(name, "Edit Message")
                self.window.find("dialog .record-head select")
                self.assertEqual([e.get_attribute("value") for e in self.window.all("dialog .record-head select")], expected)
                self.window.button("dialog", "Save")
                self.window.wait(lambda: not self.window.has("dialog"), "the dialog closes")
                self.assertEqual(self.simulator.do("message", tag=tag)["hex"], before)

    def test_a_locked_tag_can_not_be_edited_any_more(self):
        self.window.choose("Empty sticker", "Lock")
        self.window.screenshot("lock-question")
        self.window.button("dialog", "Lock")
        self.simulator.until(lambda state: any(tag["name"] == "Empty sticker" and tag["status"] == "read-only" for tag in state["tags"]))
        self.window.wait(lambda: "Read-only" in self.window.card("Empty sticker").text, "the card says so")
        self.window.click_in_card("Empty sticker", ".more")
        item = next(e for e in self.window.all("[role=menuitem]") if e.text.startswith("Edit Message"))
        self.assertEqual(item.get_attribute("aria-disabled"), "true")
        self.window.screenshot("menu-of-a-locked-tag")

    def test_an_erased_tag_is_empty(self):
        self.window.choose("Poster with a link", "Erase")
        self.window.button("dialog", "Erase")
        self.simulator.until(lambda state: any(tag["name"] == "Poster with a link" and not tag["message"] for tag in state["tags"]))
        self.window.wait(lambda: "No message" in self.window.card("Poster with a link").text, "the card says so")

    def test_a_deleted_tag_comes_back_with_undo(self):
        before = self.simulator.named("Business card")
        self.window.choose("Business card", "Delete")
        self.window.wait_text("#notices", "was deleted")
        notice, trace = self.window.find(".notice").rect, self.window.find(".trace").rect
        self.assertLessEqual(notice["y"] + notice["height"], trace["y"], "the notice covers no rows")
        self.assertIsNone(self.simulator.named("Business card"))
        self.window.screenshot("deleted")
        self.window.button("#notices", "Undo")
        self.window.card("Business card")
        self.assertEqual(self.simulator.named("Business card")["uid"], before["uid"])

    def test_a_tag_is_renamed_and_duplicated(self):
        self.window.choose("Empty sticker", "Rename")
        field = self.window.find("dialog input")
        field.clear()
        field.send_keys("Mine")
        self.window.button("dialog", "Rename")
        self.window.card("Mine")
        mine = self.simulator.named("Mine")
        self.window.choose("Mine", "Duplicate")
        tags = self.simulator.until(lambda state: any(tag["name"] == "Mine copy" for tag in state["tags"]))["tags"]
        copy = next(tag for tag in tags if tag["name"] == "Mine copy")
        self.assertEqual((copy["product"], copy["message"]), (mine["product"], mine["message"]))
