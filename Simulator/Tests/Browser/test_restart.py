# SPDX-License-Identifier: Apache-2.0
from support.case import BrowserTest


class Restart(BrowserTest):
    """The server goes away, and comes back."""

    expects_complaints = True

    def test_a_dropped_connection_comes_back_by_itself(self):
        self.window.run("import('/session.js').then(m => m.connection.restart())")
        self.simulator.do("rename", tag=self.simulator.named("Empty sticker")["id"], name="Changed meanwhile")
        self.window.wait_text(".drawer", "Changed meanwhile")
        self.assertFalse(self.window.has("#away"))

    def test_a_killed_server_is_said_and_a_new_one_has_the_same_drawer(self):
        self.simulator.do("new_tag", product="NTAG213", name="Made before", link="https://example.org/before")
        self.window.card("Made before")
        self.simulator.kill()
        self.window.find("#away")
        self.window.wait_text("#away", "connects again by itself")
        self.window.screenshot("away")
        self.window.click_in_card("Made before", ".hold")
        self.window.wait_text("#away", "1 action waits.")
        self.simulator.start()
        self.window.open(self.simulator.address)
        self.window.card("Made before")
        self.window.wait(lambda: not self.window.has("#away"), "the banner is gone")
        self.assertEqual(self.simulator.named("Made before")["message"][0]["text"], "https://example.org/before")

    def test_an_open_page_comes_back_when_the_new_address_is_opened(self):
        driver = self.window.driver
        first = driver.current_window_handle
        self.simulator.kill()
        self.window.find("#away")
        # On the port that it had, because that is given. The session is another one.
        self.simulator.start()
        driver.switch_to.new_window("tab")
        self.window.open(self.simulator.address)
        driver.close()
        driver.switch_to.window(first)
        self.window.wait(lambda: not self.window.has("#away"), "the banner is gone")
        self.window.card("Empty sticker")

    def test_an_address_works_once_and_the_session_lasts(self):
        address = self.simulator.address
        self.window.open(address)
        # The cookie is enough for another window of this browser.
        self.window.open(address.split("#")[0])
        self.window.card("Empty sticker")
        self.assertEqual(self.window.run("return document.cookie"), "")
        self.window.driver.delete_all_cookies()
        self.window.driver.get("about:blank")
        self.window.driver.get(address)
        self.window.wait_text("#away", "This address was used already")
        self.assertEqual(self.window.run("return location.hash"), "")
        # The same window takes a new one.
        self.window.open(self.simulator.address)
        self.window.wait(lambda: not self.window.has("#away"), "the banner is gone")

    def test_what_a_person_chose_lasts_and_what_another_program_left_does_not(self):
        self.window.run("document.getElementById('theme').click()")
        # As a program that had listened on this port before could have left them.
        self.window.run("localStorage.setItem('left', 'by another program')")
        self.window.run_async("navigator.serviceWorker.register('/support/records.js', { type: 'module' }).then(arguments[0], arguments[0])")
        registered = "navigator.serviceWorker.getRegistrations().then(all => arguments[0](all.length))"
        self.assertEqual(self.window.run_async(registered), 1)
        self.simulator.kill()
        self.window.driver.get("about:blank")
        self.simulator.start()
        self.window.open(self.simulator.address)
        self.assertEqual(self.window.run("return document.documentElement.dataset.theme"), "light")
        self.assertIsNone(self.window.run("return localStorage.getItem('left')"))
        self.assertEqual(self.window.run_async(registered), 0)

    def test_a_file_leads_the_browser_to_the_page(self):
        self.simulator.kill()
        path = self.simulator.start_with_browser()
        self.window.open("file://" + path)
        self.window.card("Empty sticker")
