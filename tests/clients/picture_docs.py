#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the pictures of the page in docs/pictures: picture_docs.py FOLDER OUT

FOLDER is that of record.py, of whose train.html they are; OUT becomes the folder of the pictures.
Where the sources lie on this machine is cut off. Colours are reduced to a palette: a picture takes
some 40 kB.
"""

import pathlib
import re
import sys
import tempfile
import time

import browser
from opened_page import Page
from PIL import Image

#: Name, size of the window, theme, and the section that it begins with; with a row open.
PICTURES = (
    ("page_1440_light", (1440, 900), "light", "overview"),
    ("page_1440_dark", (1440, 900), "dark", "operators"),
    ("page_1024_light", (1024, 768), "light", "roofline"),
    ("page_1024_dark", (1024, 768), "dark", "timeline"),
    ("page_390_light", (390, 844), "light", "overview"),
    ("page_390_dark", (390, 844), "dark", "operators"),
)
SHOW = "document.getElementById(arguments[0]).scrollIntoView({behavior: 'instant'})"


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    text = (folder / "train.html").read_text(encoding="utf-8")
    page_file = pathlib.Path(tempfile.mkdtemp()) / "train.html"
    page_file.write_text(re.sub(r'"/[^"]*/examples/', '"examples/', text), encoding="utf-8")
    driver = browser.chromium()
    try:
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        for name, size, theme, section in PICTURES:
            page = Page(driver, page_file, "", size)
            page.theme(theme)
            if section != "overview":
                if not page.count("#ops tr.row"):
                    page.click("#ops tr.group button")
                page.click("#ops tr.row")
            driver.execute_script(SHOW if section != "overview" else
                                  "scrollTo({top: 0, behavior: 'instant'})", section)
            time.sleep(0.4)
            path = out / f"{name}.png"
            page.picture(path, whole=False)
            with Image.open(path) as picture:
                small = picture.convert("RGB").quantize(
                    192, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            small.save(path, optimize=True)
            print(path, path.stat().st_size)
    finally:
        driver.quit()


main()
