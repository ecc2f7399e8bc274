# SPDX-License-Identifier: Apache-2.0
"""A window of Chromium with the page of a simulator."""
import base64
import os
import pathlib
import tempfile

from selenium import webdriver
from selenium.common.exceptions import ElementClickInterceptedException, ElementNotInteractableException, NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

#: How long a test waits for what has to happen. The computer may do other work.
PATIENCE = 20
#: What an element is told to be while the page draws it anew, moves it or covers it.
PASSING = (ElementClickInterceptedException, ElementNotInteractableException, NoSuchElementException, StaleElementReferenceException)
SCREENSHOTS = os.environ.get("NFC_SCREENSHOTS")
#: Where the pictures of the documentation go, when they are made again.
PICTURES = os.environ.get("NFC_PICTURES")
#: The windows whose pictures are kept of each state.
WIDTHS = ((1366, 768), (1280, 720), (1920, 1080))


class Browser:
    """A process of Chromium, which the tests of a file share."""

    def __init__(self):
        self.downloads = tempfile.TemporaryDirectory(prefix="nfc-saved-")
        # Chromium leaves a folder behind when it is ended.
        self.temporary = tempfile.TemporaryDirectory(prefix="nfc-chromium-", ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        for argument in ("--headless=new", "--disable-gpu", "--no-first-run", "--force-device-scale-factor=1",
                         "--disable-background-networking", "--disable-component-update", "--disable-sync"):
            options.add_argument(argument)
        # Chromium does not run in its sandbox as root, as a container's user is.
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"), env=dict(os.environ, TMPDIR=self.temporary.name))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", dict(behavior="allow", downloadPath=self.downloads.name))
        self.driver.set_script_timeout(PATIENCE)
        self.driver.set_page_load_timeout(PATIENCE)

    def close(self):
        self.driver.quit()
        self.downloads.cleanup()
        self.temporary.cleanup()


class Window:
    """One tab with the page."""

    def __init__(self, browser, width=1280, height=860, scheme="light", motion=False):
        self.browser = browser
        self.driver = browser.driver
        self.resize(width, height)
        self.media(scheme, motion)

    def open(self, address):
        self.driver.get(address)
        self.wait(lambda: self.run("return document.querySelectorAll('.card').length > 0"), "the drawer is drawn")
        return self

    # The browser's own settings

    def resize(self, width, height):
        self.size = (width, height)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", dict(width=width, height=height, deviceScaleFactor=1, mobile=False))

    def media(self, scheme="light", motion=False):
        self.scheme, self.motion = scheme, motion
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dict(features=[
            dict(name="prefers-color-scheme", value=scheme),
            dict(name="prefers-reduced-motion", value="no-preference" if motion else "reduce")]))

    # What is there

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def run_async(self, script, *arguments):
        """Runs a script whose last argument is called with its result."""
        return self.driver.execute_async_script(script, *arguments)

    def find(self, selector):
        """Waits for an element that can be seen."""
        return self.wait(lambda: self.shown(selector), f"{selector} is there")

    def shown(self, selector):
        """The first element that can be seen, or none."""
        return next((e for e in self.all(selector) if e.is_displayed()), None)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def has(self, selector):
        return self.shown(selector) is not None

    def text(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent).join('\\n')", selector)

    def card(self, name):
        """The card of the tag with a name."""
        return self.wait(lambda: self.run("return [...document.querySelectorAll('.card')].find(card => card.querySelector('.card-name').innerText === arguments[0])", name),
                         f"there is a card {name!r}")

    def saying(self, selector, text):
        """The first element that can be seen and whose first line is a text, or none. All are looked at with one call of the browser."""
        return self.run("""return [...document.querySelectorAll(arguments[0])]
            .find(e => e.innerText.trim().split('\\n')[0] === arguments[1] && e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))""", selector, text)

    def focused(self):
        return self.driver.switch_to.active_element

    def wait(self, condition, what):
        """Waits until a condition is true, and returns its value."""
        waiting = WebDriverWait(self.driver, PATIENCE, poll_frequency=0.03, ignored_exceptions=PASSING)
        return waiting.until(lambda _: condition(), f"waited in vain until {what}")

    def wait_text(self, selector, text):
        return self.wait(lambda: text in self.text(selector), f"{selector} says {text!r}, but it says {self.text(selector)!r}")

    def settle(self):
        """Waits until nothing moves."""
        self.wait(lambda: self.run("return document.getAnimations().every(a => a.playState !== 'running' || a.effect?.getTiming().iterations === Infinity)"), "nothing moves")

    # What a person does

    def click(self, selector):
        self.click_on(lambda: self.shown(selector), f"{selector} is there")

    def click_in_card(self, name, selector):
        """Presses what a selector names in the card of a tag."""
        self.click_on(lambda: self.card(name).find_element(By.CSS_SELECTOR, selector), f"the card {name!r} has {selector}")

    def click_on(self, find, what):
        """Presses an element. It is looked for again while the page draws it anew, moves it or covers it."""
        def press():
            element = find()
            if element is None:
                return False
            element.click()
            return True
        self.wait(press, what)

    def press(self, *keys):
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def drag(self):
        return ActionChains(self.driver, duration=60)

    def button(self, within, text):
        """Presses the button that says a text."""
        self.click_on(lambda: self.saying(f"{within} button", text), f"there is a button {text!r} in {within}")

    def choose(self, name, text):
        """Chooses from the menu of the card of a tag."""
        self.click_in_card(name, ".more")
        self.menu_item(text)

    def menu_item(self, text):
        self.click_on(lambda: self.saying("[role=menuitem]", text), f"the menu has {text!r}")

    def drop(self, name, data):
        """Drops a file on the page."""
        self.run("""
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(arguments[1])], arguments[0]));
            for (const name of ['dragenter', 'dragover', 'drop']) {
                document.body.dispatchEvent(new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true }));
            }""", name, list(data))

    def saved(self, ending):
        """Waits for a file that the page has saved."""
        folder = pathlib.Path(self.browser.downloads.name)
        return self.wait(lambda: next((p for p in folder.iterdir() if p.name.endswith(ending)), None), f"a file {ending} is saved").read_bytes()

    def screenshot(self, name):
        """Keeps pictures of the window, where pictures are wanted: at three widths, light and dark."""
        if not SCREENSHOTS:
            return
        size, scheme = self.size, self.scheme
        for width, height in WIDTHS:
            self.resize(width, height)
            for other in ("light", "dark"):
                self.media(other, self.motion)
                self.keep(f"{name}-{width}-{other}")
        self.resize(*size)
        self.media(scheme, self.motion)
        self.settle()

    def keep(self, name):
        """Keeps a picture of the window as it is, where pictures are wanted."""
        if SCREENSHOTS:
            self.settle()
            folder = pathlib.Path(SCREENSHOTS)
            folder.mkdir(parents=True, exist_ok=True)
            picture = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"optimizeForSpeed": True})["data"]
            (folder / f"{name}.png").write_bytes(base64.b64decode(picture))

    def picture(self, name, of="body"):
        """Makes a picture of the documentation again, of an element of the page, where that is wanted."""
        if PICTURES:
            self.settle()
            (pathlib.Path(PICTURES) / f"{name}.png").write_bytes(self.find(of).screenshot_as_png)

    def complaints(self):
        """What the browser has written to its console: errors, and what the page's policy has blocked."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING")]
