"""The page in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kappaguard.reports.write import write_report

from .example import results

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
@pytest.mark.parametrize("width", [390, 800, 1200])
def test_it_opens_without_errors_and_fits(browser: Any, address: str, width: int, theme: str) -> None:
    page, errors = opened(browser, address, width, theme)
    assert errors == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.broken") is None
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


def test_the_page_is_small(address: str) -> None:
    assert Path(address.removeprefix("file://")).stat().st_size < 5_000_000
