# SPDX-License-Identifier: MIT
"""What check_page.py checks of pages of runs that lack something, those of changed_runs.py."""

from changed_runs import STATES
from opened_page import Page, check, holds


def text_of(page, css):
    return page.js(f"document.querySelector({css!r}).innerText.replaceAll('\\u202f', ' ')")


def check_dropped(page):
    holds("the banner says how many", "57 dropped" in text_of(page, "#banner"))
    holds("the sentence is marked", text_of(page, "#sentence").startswith("▲ "))
    holds("it says about", "about" in text_of(page, "#sentence"))
    holds("no advice rests on what is missing", "No advice" in text_of(page, "#advice"))


def check_no_formulas(page):
    holds("the sentence says what cannot be said", "cannot be said" in text_of(page, "#sentence"))
    heads = text_of(page, "#ops thead")
    check("columns that leave", [c for c in ("lost", "rate", "traffic", "of the roof", "bound")
                                 if c in heads], [])
    holds("trust names it", "flops()" in text_of(page, "#trust"))


def check_no_ceilings(page):
    holds("the sentence says what cannot be said", "cannot be said" in text_of(page, "#sentence"))
    heads = text_of(page, "#ops thead")
    check("rates stay", [c for c in ("rate", "traffic") if c in heads], ["rate", "traffic"])
    check("the roof leaves", "of the roof" in heads, False)


def check_impossible(page):
    holds("rows are marked", page.count("#ops tr.row") and "▲ impossible" in text_of(page, "#ops"))
    holds("trust says so", "above every roof" in text_of(page, "#trust"))
    fact = page.js("[...document.querySelectorAll('#facts > div')].map(e => e.innerText)"
                   ".find(t => t.includes('utilisation')).replaceAll('\\u202f', ' ')")
    holds(f"so is the figure that it spoils: {fact!r}", "▲" in fact and "impossible" in fact)
    holds("the legend has its sign", "▲ impossible" in text_of(page, "#overview .legend"))


def check_long_names(page):
    sentence = text_of(page, "#sentence")
    holds("the sentence has its end", len(sentence) < 300 and "can do." in sentence)
    high = page.js("document.documentElement.scrollHeight")
    holds(f"the page is {high} pixels high, and no name fills it", high < 8000)
    holds("a title has as much of the name as the page: 1,000 letters", page.js(
        "[...document.querySelectorAll('#ops [title]')].some(e => e.title.length > 1000)"))


def check_no_operator(page):
    holds("the sentence says so", "ran no operator" in text_of(page, "#sentence"))
    holds("so does the table", "No operator ran." in text_of(page, "#ops"))


def check_states(driver, folder):
    for name in STATES:
        print(f"state {name}")
        page = Page(driver, folder / f"state_{name}.html")
        globals()[f"check_{name}"](page)
        check("a banner stands above it", page.js("!banner.hidden"), name == "dropped")
        for width in (360, 390, 1024):
            page.size(width, 800)
            holds("no name fills the screen", page.js(
                "Math.max(...[...document.querySelectorAll('#share > div, #ops tr, #advice li')]"
                ".map(e => e.offsetHeight), 0)") < 700)
            check(f"columns beyond the window at {width}", page.js(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)
        page.is_quiet()
