# SPDX-License-Identifier: Apache-2.0
"""A test with a simulator of its own and a window."""
import unittest

from .simulator import Simulator
from .window import Browser, Window


class BrowserTest(unittest.TestCase):
    """The browser is shared by a file's tests; each test has a new simulator and loads the page again."""

    #: Whether a test makes the browser complain, for example by ending the server.
    expects_complaints = False

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.simulator = self.make_simulator()
        self.addCleanup(self.simulator.end)
        self.window = Window(self.browser)
        self.window.open(self.simulator.address)
        self.addCleanup(self.leave)

    def make_simulator(self):
        return Simulator()

    def leave(self):
        """Leaves the page, before its server ends, and looks at what the browser complained about."""
        self.window.driver.get("about:blank")
        complaints = self.window.complaints()
        if not self.expects_complaints:
            self.assertEqual(complaints, [], "the browser's console has complaints")
