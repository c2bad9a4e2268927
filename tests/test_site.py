"""The documentation site, built and opened from files: nothing from elsewhere, search, narrow screens, whole links.

The generator comes with the group `docs`, which `make docs` installs. Without it or without Chromium tests are skipped.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
from browser import Browser, chromium

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PHONE = 390
SEEN = ("index", "tutorial", "rules", "rules/QC101", "settings", "simulate", "glossary", "how-to/many-clusters", "kai")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("material") is None, reason="the site generator is not installed"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = chromium()
    if program is None:
        pytest.skip("no Chromium on this machine")
    opened = Browser(program, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def test_links_lead_to_pages_and_their_parts(site: Path) -> None:
    broken = [
        f"{page.relative_to(site)}: {link}"
        for page in site.rglob("*.html")
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8"))
        if not leads_somewhere(page, link)
    ]
    assert broken == []


def leads_somewhere(page: Path, link: str) -> bool:
    target = urlsplit(link)
    if target.scheme or target.netloc or link.startswith("/"):
        return target.scheme in ("https", "data", "mailto") or page.name == "404.html"
    file = (page.parent / unquote(target.path)).resolve() if target.path else page
    file = file / "index.html" if file.is_dir() else file
    if not file.is_file():
        return False
    wanted = unquote(target.fragment)
    return not wanted or file.suffix != ".html" or f'id="{wanted}"' in file.read_text(encoding="utf-8")


def test_no_program_and_no_draft_is_published(site: Path) -> None:
    assert not list(site.rglob("*.py"))


@pytest.mark.parametrize("page", SEEN)
@pytest.mark.parametrize("width", [PHONE, 1280])
def test_a_page_fits_and_asks_for_nothing_from_elsewhere(
    browser: Browser, site: Path, page: str, width: int, tmp_path: Path
) -> None:
    browser.open(site / f"{page}.html", width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert [address for address in browser.requests if not address.startswith(("file:", "data:"))] == []
    folder = Path(os.environ.get("QCHECK_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    assert len(browser.screenshot(folder / f"site-{page.replace('/', '-')}-{width}.png")) > 10_000


def test_search_works_from_files(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html", 1280)
    browser.evaluate(
        "(i => { i.focus(); i.value = 'fragmentation'; i.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));"
        " i.dispatchEvent(new Event('input', {bubbles: true})); })(document.querySelector('.md-search__input'))"
    )
    found: list[str] = []
    for _ in range(50):
        found = browser.evaluate("[...document.querySelectorAll('.md-search-result__link')].map(a => a.href)")
        if found:
            break
        sleep(0.2)
    assert found
    assert all(address.startswith("file:") for address in found)
