#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures of pages, to look at: picture_pages.py FOLDER OUT [NAME...]

Of each page NAME.html, or of all in FOLDER, the whole document in light and dark at widths of 1440,
1024 and 390, with the first row open: OUT/NAME_1440_light.png.
"""

import pathlib
import sys
import time

import browser
from opened_page import Page

SIZES = ((1440, 900), (1024, 768), (390, 844))


def take(driver, path, out, width, height):
    """Opened anew for each width: what a narrow window leaves out is decided then."""
    page = Page(driver, path, "", (width, height))
    if page.count("#ops tr.row"):
        page.click("#ops tr.row")
    for theme in ("light", "dark"):
        page.theme(theme)
        page.driver.execute_script("scrollTo({top: 0, behavior: 'instant'})")
        time.sleep(0.2)
        page.picture(out / f"{path.stem}_{width}_{theme}.png")
    page.is_quiet()


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    names = sys.argv[3:] or sorted(p.stem for p in folder.glob("*.html"))
    driver = browser.chromium()
    try:
        for name in names:
            for width, height in SIZES:
                take(driver, folder / f"{name}.html", out, width, height)
    finally:
        driver.quit()


main()
