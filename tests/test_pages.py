"""The HTML reports in headless Chromium: on a phone and a screen, light and dark, with the keyboard, and without network.

Without a Chromium on the machine these tests are skipped. `QCHECK_SCREENSHOTS=DIR` keeps the pictures.
"""

from __future__ import annotations

import itertools
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import Browser, chromium

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
FLEET = ROOT / "fixtures" / "clusters" / "research-fleet"
STORY = ROOT / "fixtures" / "scenarios" / "reserved-and-borrowed"
PHONE, SCREEN = 390, 1280
PAGES = ("check", "fleet", "kai", "shares", "preemption", "simulate")

pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine")

CONTRAST = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => { const f = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
  const ground = e => {
    for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; }
    return [255, 255, 255]; };
  const poor = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; n = walk.nextNode();) {
    const e = n.parentElement;
    if (!n.textContent.trim() || !e.checkVisibility()) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) poor.push([n.textContent.trim().slice(0, 40), Math.round(ratio * 100) / 100]);
  }
  return poor;
})()"""

HIDDEN_MARKS = """[...document.querySelectorAll('mark')].filter(m => m.checkVisibility()).filter(m => {
  const box = m.getBoundingClientRect(), around = m.closest('pre').getBoundingClientRect();
  return box.left < around.left || box.right > Math.min(around.right, innerWidth);
}).map(m => m.textContent)"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = chromium()
    assert program is not None
    opened = Browser(program, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    settings = two_clusters(folder / "two")
    made = {name: folder / f"{name}.html" for name in PAGES}
    written = {
        "check": ["check", str(FLEET)],
        "fleet": ["check", "--config", str(settings), str(settings.parent)],
        "kai": ["check", str(FLEET.parent / "kai-departments")],
        "shares": ["shares", str(FLEET)],
        "preemption": ["explain", "preemption", str(FLEET)],
        "simulate": ["simulate", str(STORY / "scenario.yaml"), "--in", str(STORY)],
    }
    for name, words in written.items():
        run = [sys.executable, "-m", "qcheck", *words, f"--format=html={made[name]}"]
        assert subprocess.run(run, cwd=ROOT, check=False, capture_output=True).returncode in (0, 1)
    return made


def two_clusters(folder: Path) -> Path:
    """Two clusters with the same queues in another order; the second has few nodes now and an autoscaler."""
    for name, count, order in (("a", "19", 1), ("b", "{min: 4, desired: 4, max: 24}", -1)):
        for file in sorted(FLEET.rglob("*.yaml")):
            target = folder / name / file.relative_to(FLEET)
            target.parent.mkdir(parents=True, exist_ok=True)
            documents = file.read_text().replace("count: 19", f"count: {count}").split("\n---\n")
            target.write_text("\n---\n".join(documents[::order] if file.name == "reserved.yaml" else documents))
    settings = folder / "qcheck.yaml"
    settings.write_text("version: 1\nclusters:\n  prod-a: {include: ['a/**']}\n  prod-b: {include: ['b/**']}\n")
    return settings


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_off_on_a_phone(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.open(pages[name], PHONE)
    assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE
    assert browser.evaluate(HIDDEN_MARKS) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_text_can_be_read_in_the_light_and_in_the_dark(
    browser: Browser, pages: dict[str, Path], name: str, scheme: str
) -> None:
    browser.open(pages[name], SCREEN, scheme=scheme)
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.evaluate(CONTRAST) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.open(pages[name], SCREEN)
    assert browser.requests == [pages[name].resolve().as_uri()]


@pytest.mark.parametrize("name", PAGES)
def test_headings_go_down_one_level_at_a_time(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.open(pages[name], SCREEN)
    levels = browser.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_findings_are_listed_first_with_their_cluster(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["fleet"], SCREEN)
    headings = browser.evaluate("[...document.querySelectorAll('h2')].map(h => h.textContent)")
    assert headings == ["Findings", "Cluster prod-a", "Cluster prod-b", "Findings in detail"]
    named = browser.evaluate(
        "[...document.querySelectorAll('.contents li')].map(i => i.querySelector('.chip').textContent)"
    )
    assert {"prod-a", "prod-b"} == set(named)


def test_a_queue_has_one_colour_in_all_clusters(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["fleet"], SCREEN)
    colours = browser.evaluate(
        "[...document.querySelectorAll('.queue-name')].map(q => [q.querySelector('b').textContent,"
        " getComputedStyle(q.querySelector('.dot')).backgroundColor])"
    )
    assert len(colours) == 10
    assert len({tuple(pair) for pair in colours}) == len({name for name, _ in colours}) == 5


def test_queues_of_kai_have_colours_too(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["kai"], SCREEN)
    classes = browser.evaluate(
        "[...document.querySelectorAll('.bar-row .bar-line:nth-child(2) i')].map(i => i.className)"
    )
    assert {"q0", "q1"} <= set(classes)
    assert "none" not in classes


def test_the_bars_of_a_flavor_have_one_scale(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["fleet"], SCREEN)
    rows = browser.evaluate(
        "[...document.querySelectorAll('.bar-row')].filter(r => r.querySelector('b').textContent === 'h100'"
        " && r.querySelector('.quiet').textContent === 'nvidia.com/gpu').flatMap(r => [...r.querySelectorAll('.bar-line')]"
        ".filter(l => l.querySelector('.bar-label').textContent === 'promised').map(l => [+l.querySelector('.bar-total')"
        ".textContent, [...l.querySelectorAll('i')].reduce((w, i) => w + i.getBoundingClientRect().width, 0)]))"
    )
    (one, width), (other, width_of_other) = rows
    assert width / one == pytest.approx(width_of_other / other, rel=0.01)


def test_what_is_there_is_told_apart_from_what_could_be_added(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["fleet"], SCREEN)
    sums = browser.evaluate(
        "[...document.querySelectorAll('.sums')].map(s => Object.fromEntries([...s.querySelectorAll('.sum')]"
        ".map(e => [e.querySelector('span').textContent, +e.querySelector('b').textContent])))"
    )
    assert sums == [
        {"promised by quota": 168, "have nodes now": 133, "have no nodes": 35},
        {"promised by quota": 168, "have nodes now": 28, "need nodes that could be added": 124, "have no nodes": 16},
    ]


def test_chips_are_on_the_pool_that_they_are_about(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["check"], SCREEN)
    chips = browser.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.group')].filter(g => g.querySelector('.where')).map(g =>"
        " [g.querySelector('b').textContent, [...g.querySelectorAll('.links a')].map(a => a.textContent)]))"
    )
    assert chips == {"h100": ["QC101", "QC104"], "l40s": ["QC201"]}


def test_the_keyboard_reaches_links_and_shows_where_it_is(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["check"], SCREEN)
    browser.press("Tab")
    focused = "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"
    assert browser.evaluate(focused) == ["A", "solid"]
    browser.press("Enter")
    assert browser.evaluate("location.hash") == "#f1"


@pytest.mark.parametrize("width", [PHONE, SCREEN])
@pytest.mark.parametrize("name", PAGES)
def test_pictures_of_the_pages(browser: Browser, pages: dict[str, Path], name: str, width: int, tmp_path: Path) -> None:
    folder = Path(os.environ.get("QCHECK_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    browser.open(pages[name], width)
    picture = browser.screenshot(folder / f"{name}-{width}.png")
    assert struct.unpack(">I", picture[16:20])[0] == width
    assert len(picture) > 10_000
