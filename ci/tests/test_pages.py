"""The pages of ci/site in Chromium, at three widths, and opened as files: nothing is too wide, every link leads somewhere, and
search works without a network. Only the matrix of readers, wide tables and listings are scrolled sideways, within the page; at
1,280 pixels the front page and the pages of rules need no scrolling.
"""

import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import PROGRAM, Browser, Server, serving

SITE = Path(os.environ.get("HPROF_SITE", Path(__file__).resolve().parents[2] / "build/site"))
PAGES = sorted(page.relative_to(SITE).as_posix() for page in SITE.rglob("*.html"))

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium")

TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SCROLLED = """
[...document.querySelectorAll("article *")].filter((one) => one.scrollWidth > one.clientWidth + 1
  && ["auto", "scroll"].includes(getComputedStyle(one).overflowX)).map((one) => one.textContent.trim().slice(0, 80))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(SITE) as server:
        yield server


@pytest.fixture(scope="module")
def browser(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile"), server) as browser:
        yield browser


def show(browser: Browser, address: str) -> None:
    browser.go("about:blank")
    browser.go(address)
    browser.wait(f"document.readyState === 'complete' && location.href === {address!r}")


@pytest.mark.parametrize("width", [1280, 768, 390])
def test_no_page_is_too_wide(width: int, browser: Browser, server: Server) -> None:
    browser.look(width, dark=False)
    wide, scrolled = [], []
    for page in PAGES:
        show(browser, f"{server.address}/{page}")
        if browser.evaluate(TOO_WIDE) > 0:
            wide.append(page)
        if width == 1280 and (page == "index.html" or page.startswith("rules/")):
            scrolled += [(page, text) for text in browser.evaluate(SCROLLED)]
        if (folder := os.environ.get("HPROF_PICTURES")) and "/" not in page:
            browser.picture(Path(folder) / f"{page.removesuffix('.html')}-{width}.png")
    assert (wide, scrolled) == ([], [])
    assert len(PAGES) > 100


def test_search_works_without_a_network(browser: Browser, server: Server) -> None:
    """The pages are opened from the disk. What is found is a section that has the word."""
    browser.look(1280, dark=False)
    show(browser, (SITE / "index.html").as_uri())
    asked = len(server.asked)
    browser.evaluate(
        "((field) => {field.focus(); field.value = 'CLASS_DUMP'; field.dispatchEvent(new Event('input', {bubbles: true}));"
        "field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}))})(document.querySelector('.md-search__input'))"
    )
    browser.wait("document.querySelector('.md-search-result__link')")
    found = browser.evaluate("[...document.querySelectorAll('.md-search-result__link')].map((one) => one.href)")
    assert found and all("CLASS_DUMP" in text_of(urlsplit(address).path) for address in found)
    assert server.asked[asked:] == []  # the server is the browser's proxy


def text_of(path: str) -> str:
    return Path(unquote(path)).read_text(encoding="utf-8")


class Links(HTMLParser):
    """What a page refers to, and the places in it that others may."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places = {"", "__top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name in ("id", "name") and value is not None:
                self.places.add(value)


def test_every_link_leads_somewhere() -> None:
    """In what was built, with what the theme adds. The page for what is not found has the site's own address in its links."""
    parsed = {page: Links((SITE / page).read_text(encoding="utf-8")) for page in PAGES}
    dead = []
    for page, links in parsed.items():
        for link in links.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or (page == "404.html" and link.startswith("/")):
                continue
            target = os.path.normpath((SITE / page).parent / unquote(parts.path)) if parts.path else str(SITE / page)
            name = os.path.relpath(target, SITE)
            if not Path(target).exists() or (name in parsed and unquote(parts.fragment) not in parsed[name].places):
                dead.append((page, link))
    assert dead == []
    assert sum(len(links.links) for links in parsed.values()) > 10_000
    assert re.search(r'href="/index.html"', (SITE / "404.html").read_text(encoding="utf-8"))
