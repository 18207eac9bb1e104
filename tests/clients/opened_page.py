# SPDX-License-Identifier: MIT
"""A page of the output html, opened from disk in a browser as a reader does."""

import base64
import json
import time

import browser
from selenium.webdriver.common.by import By

READY = "return document.documentElement.dataset.ready"


def check(what, seen, wanted):
    if seen != wanted:
        raise SystemExit(f"FAIL: {what}: the page has {seen}, wanted {wanted}")
    print(f"{what}: {str(wanted)[:80]}")


def holds(what, is_so):
    check(what, bool(is_so), True)


class Page:
    def __init__(self, driver, path, hash_="", size=(1440, 900)):
        self.driver = driver
        self.address = path.resolve().as_uri()
        self.size(*size)
        driver.get("about:blank")
        for log in ("performance", "browser"):
            driver.get_log(log)  # of the page before
        driver.get(self.address + hash_)
        browser.wait(driver, READY, 20)

    def size(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        time.sleep(0.2)

    def theme(self, name):
        """What the reader's system prefers: "light" or "dark"."""
        features = {"prefers-color-scheme": name, "prefers-reduced-motion": "reduce"}
        features = [{"name": n, "value": value} for n, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        time.sleep(0.2)

    def picture(self, path, whole=True):
        """Saves what is in the window, or the whole document."""
        shot = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            # Else it stands in the middle, where the browser takes a part of the picture anew.
            self.driver.execute_script("document.getElementById('bar').style.position = 'static'")
            width, height = self.js("[innerWidth, document.documentElement.scrollHeight]")
            shot["clip"] = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", shot)
        path.write_bytes(base64.b64decode(taken["data"]))

    def js(self, expression):
        return self.driver.execute_script("return " + expression)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def count(self, css):
        return len(self.all(css))

    def click(self, css, text=None):
        for element in self.all(css):
            if text is None or element.text == text:
                center = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})"
                self.driver.execute_script(center, element)
                element.click()
                return
        raise SystemExit(f"FAIL: there is no {css} {text or ''}")

    def keys(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def is_quiet(self):
        asked = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if url.split("#")[0] != self.address and not url.startswith("about:"):
                    asked.append(url)
        check("it asks nothing of the network", asked, [])
        console = [e["message"] for e in self.driver.get_log("browser")]
        check("it writes nothing to the console", console, [])
