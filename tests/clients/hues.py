# SPDX-License-Identifier: MIT
"""Hues of a page for people who see fewer of them, and the words that stand for hues."""

import re

from opened_page import check, holds

#: Protanopia, deuteranopia and tritanopia in full, by Machado, Oliveira and Fernandes (2009), for
#: linear RGB.
DEFICIENCIES = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
}
LEAST = 18  # of CIE76; red and memory in light are at 19, and red has its sign besides
HUES = ("compute", "memory", "latency", "unknown", "red")
BOUNDS = r"\b(compute|memory|cache|balanced|latency|launch|small grid|impossible|n/a)\b"
#: The tips of elements of charts, each once.
TIPS = """
return [...document.querySelectorAll(arguments[0])].slice(0, 40).map((e) => {
  const box = e.getBoundingClientRect();
  e.dispatchEvent(new PointerEvent("pointermove", { bubbles: true,
    clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }));
  const text = document.getElementById("tip").innerText;
  e.dispatchEvent(new PointerEvent("pointerleave"));
  return text;
});
"""


def linear(text):
    parts = [int(text.strip()[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def lab(rgb):
    rows = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
            (0.0193339, 0.1191920, 0.9503041))
    white = (0.95047, 1.0, 1.08883)
    f = []
    for row, w in zip(rows, white):
        t = sum(a * min(1, max(0, c)) for a, c in zip(row, rgb)) / w
        f.append(t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116)
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def check_hues(page, what):
    """No two hues come near each other."""
    colours = {name: linear(page.js("getComputedStyle(document.documentElement)"
                                    f".getPropertyValue('--{name}')")) for name in HUES}
    for deficiency, matrix in DEFICIENCIES.items():
        seen = {name: lab([sum(a * c for a, c in zip(row, rgb)) for row in matrix])
                for name, rgb in colours.items()}
        near, pair = min((sum((a - b) ** 2 for a, b in zip(seen[x], seen[y])) ** 0.5, f"{x}, {y}")
                         for x in HUES for y in HUES if x < y)
        holds(f"{what}, {deficiency}: {pair} are {near:.0f} apart, {LEAST} at least", near >= LEAST)


def check_words(page):
    """What bounds a row is a word too, wherever it is a hue."""
    for css in ("#share svg g[style*=pointer]", "#tree_b .box.op", "#roofline_b circle[data-row]"):
        tips = page.driver.execute_script(TIPS, css)
        holds(f"{css}: {len(tips)} tips", tips)
        check(f"{css}: tips without a word", [t for t in tips if not re.search(BOUNDS, t)], [])
    labels = page.js("[...document.querySelectorAll('#share svg g')].filter(g => "
                     "g.getBBox().width > 260 && g.style.cursor).map(g => g.textContent)")
    check("wide parts without a word", [t for t in labels if not re.search(BOUNDS, t)], [])
    if page.count("#steps_b .legend"):
        holds("the order of a step's parts is said", "from the bottom" in page.js(
            "document.querySelector('#steps_b .legend').textContent"))
