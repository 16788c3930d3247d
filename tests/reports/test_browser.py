"""The page in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kappaguard.reports.markdown import MOST_CHARACTERS
from kappaguard.reports.write import write_report
from kappaguard.verify.theory.registry import claims

from .example import results
from .large import large_results

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_report(results(), tmp_path_factory.mktemp("report")).as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


def opened(browser: Any, address: str, width: int = 1200, theme: str = "light") -> tuple[Any, list[str]]:
    errors: list[str] = []
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    return page, errors


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 800, 1200])
def test_it_opens_without_errors_and_fits(browser: Any, address: str, width: int, theme: str) -> None:
    page, errors = opened(browser, address, width, theme)
    assert errors == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.broken") is None
    page.close()


@pytest.mark.parametrize("width", [320, 540, 600, 1200])
def test_a_picture_that_is_wider_than_the_screen_says_so(browser: Any, address: str, width: int) -> None:
    page, _ = opened(browser, address, width)
    pictures = page.evaluate(
        "[...document.querySelectorAll('.canvas')].map(each => [each.scrollWidth > each.clientWidth,"
        " getComputedStyle(each, '::before').content, each.querySelector('svg').viewBox.baseVal.width])"
    )
    assert pictures
    for wider, cue, drawn in pictures:
        assert wider == (width < 550 and drawn > 500)
        assert ("scroll" in cue) == wider
    page.close()


def test_the_slider_moves_the_picture(browser: Any, address: str) -> None:
    page, errors = opened(browser, address)
    seen = []
    for value in range(3):
        page.locator("#slider").fill(str(value))
        seen.append((page.inner_text("#title"), page.inner_html("#drawing")))
    assert len(set(seen)) == 3
    assert page.inner_text("#place") == "3"
    assert page.locator("#drawing circle.honest").count() == 3
    assert page.locator("#drawing polygon.byzantine").count() == 1
    assert errors == []
    page.close()


def test_the_button_changes_the_theme(browser: Any, address: str) -> None:
    page, _ = opened(browser, address)
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.click("#theme")
    dark = page.evaluate(colour)
    page.click("#theme")
    assert light != dark
    assert page.evaluate(colour) == light
    page.close()


def test_text_in_pictures_takes_the_colour_of_the_page(browser: Any, address: str) -> None:
    page, _ = opened(browser, address, theme="dark")
    colours = page.evaluate(
        "[...document.querySelectorAll('figure svg text')].map((each) => getComputedStyle(each).fill)"
    )
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert len(colours) > 20
    assert sum(colour == ink for colour in colours) > 0.9 * len(colours)
    page.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of results as large as those of the default grid."""
    return write_report(large_results(), tmp_path_factory.mktemp("large")).parent


def test_the_report_of_the_default_grid_is_small(large: Path) -> None:
    assert 300_000 < (large / "index.html").stat().st_size < 5_000_000
    assert 20_000 < len((large / "report.md").read_text()) < MOST_CHARACTERS


def test_the_report_of_the_default_grid_opens_within_two_seconds(browser: Any, large: Path) -> None:
    """The least of three times from the start of the navigation to the end of the load event: a busy machine delays
    some of them, and a page that is too heavy delays all."""
    seconds = []
    for _ in range(3):
        page, errors = opened(browser, (large / "index.html").as_uri())
        page.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
        seconds.append(page.evaluate("performance.getEntriesByType('navigation')[0].duration") / 1000)
        assert errors == []
        assert page.locator("#verdicts tbody tr").count() == len(claims())
        page.close()
    assert 0 < min(seconds) < 2


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_verdicts_changes_and_findings_are_on_the_first_screen(
    browser: Any, large: Path, width: int, height: int
) -> None:
    page, _ = opened(browser, (large / "index.html").as_uri(), width)
    for part in ("#summary", "#changes", "#findings"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= height, part
    assert page.locator("#findings li").count() == 3
    page.close()


def test_a_link_to_a_claim_opens_it_and_a_count_shows_only_its_kind(browser: Any, large: Path) -> None:
    page, _ = opened(browser, (large / "index.html").as_uri())
    page.click("#summary a[data-show=refuted]")
    refuted = [each.name for each in claims() if each.expected == "refuted"]
    assert page.locator("#verdicts tbody tr:visible").count() == len(refuted)
    page.evaluate("location.hash = 'claim-theorem-1-corrected'")
    page.wait_for_function("document.querySelector('#claim-theorem-1-corrected details').open")
    assert page.locator("#verdicts tbody tr:visible").count() == len(claims())
    page.close()


CONTRAST = """() => {
  const light = (colour) => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((each) => each / 255)
      .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const seen = [...document.querySelectorAll("p, td, th, li, a, code, figcaption, .badge, summary, button")]
    .map((each) => light(getComputedStyle(each).color));
  return Math.min(...seen.map((each) => (Math.max(each, paper) + 0.05) / (Math.min(each, paper) + 0.05)));
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_contrast_that_readers_need(browser: Any, large: Path, theme: str) -> None:
    """4.5 to 1, as the Web Content Accessibility Guidelines have it."""
    page, _ = opened(browser, (large / "index.html").as_uri(), theme=theme)
    assert page.evaluate(CONTRAST) >= 4.5
    page.close()


def test_a_printed_page_is_light_and_shows_the_details(browser: Any, large: Path) -> None:
    page, _ = opened(browser, (large / "index.html").as_uri(), theme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("details:not([open])").count() == 0
    assert page.locator("#filter").is_hidden()
    page.close()
