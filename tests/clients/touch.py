# SPDX-License-Identifier: MIT
"""Fingers on a page, and nothing else: events of touch as a screen gives them."""

import time


class Fingers:
    def __init__(self, page, width, height):
        self.page = page
        self.driver = page.driver
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": True}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled",
                                    {"enabled": True, "maxTouchPoints": 5})
        self.driver.refresh()
        time.sleep(0.5)

    def lift(self):
        """Back to a screen without touch."""
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})

    def send(self, kind, points):
        points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        self.driver.execute_cdp_cmd("Input.dispatchTouchEvent",
                                    {"type": kind, "touchPoints": points})

    def tap_at(self, x, y):
        self.send("touchStart", [(x, y)])
        self.send("touchEnd", [])
        time.sleep(0.4)

    def move(self, begins, ends, steps=12):
        """Each finger from its begin to its end, all at once."""
        self.send("touchStart", begins[:1])
        if len(begins) > 1:
            self.send("touchStart", begins)
        for i in range(1, steps + 1):
            self.send("touchMove", [(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps)
                                    for (x0, y0), (x1, y1) in zip(begins, ends)])
            time.sleep(0.016)
        if len(ends) > 1:
            self.send("touchEnd", ends[:1])
        self.send("touchEnd", [])
        time.sleep(0.5)

    def middle(self, css, text=None):
        """Brings the first such element that can be seen to the window's middle; its place."""
        place = self.driver.execute_script(
            "const e = [...document.querySelectorAll(arguments[0])].find((e) => e.checkVisibility()"
            " && (arguments[1] === null || e.textContent.trim() === arguments[1]));"
            "if (!e) return null; e.scrollIntoView({ block: 'center', inline: 'nearest',"
            " behavior: 'instant' }); const b = e.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2, b.left, b.top, b.width, b.height]",
            css, text)
        if place is None:
            raise SystemExit(f"FAIL: there is no {css} {text or ''} to tap")
        return place

    def tap(self, css, text=None):
        x, y = self.middle(css, text)[:2]
        self.tap_at(x, y)
