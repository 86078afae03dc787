"""Reports written by the program, and a real Chromium to open them in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
PROGRAM = os.environ.get("TAUGRAPH_PROGRAM", str(ROOT / "target" / "debug" / "taugraph"))
FLAGS = [
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]


def taugraph(*words, cwd=None, program=PROGRAM):
    """Runs the program and returns its output."""
    done = subprocess.run([program, *map(str, words)], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def laboratory(*words):
    """The same for the laboratory's program, in the same folder."""
    return taugraph(*words, program=str(Path(PROGRAM).with_name("taugraph-lab")))


@pytest.fixture(scope="session")
def browser():
    # Chromium's own sandbox refuses to run as root.
    flags = FLAGS + (["--no-sandbox"] if os.geteuid() == 0 else [])
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=os.environ["TAUGRAPH_CHROMIUM"], args=flags)
        yield chromium
        chromium.close()


class Visit:
    """A page that was opened from disk, and everything that happened meanwhile."""

    def __init__(self, browser, path, *, width=1280, height=900, scheme="light", touch=False):
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            has_touch=touch,
            device_scale_factor=2 if touch else 1,
            accept_downloads=True,
        )
        self.page = self.context.new_page()
        self.said, self.asked, self.dialogs = [], [], []
        self.page.on("console", lambda message: self.said.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.url = Path(path).resolve().as_uri()
        self.page.goto(self.url)
        self.settle()

    def settle(self):
        """Waits until the scene has been drawn."""
        before = -1
        while (now := self.drawn()) != before:
            before = now
            self.page.wait_for_timeout(250)

    def drawn(self):
        return self.page.evaluate("Number(document.getElementById('map')?.dataset.drawn || 0)")

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def box(self):
        self.page.locator("#map").scroll_into_view_if_needed()
        return self.page.locator("#map").bounding_box()

    def set_tau(self, place):
        self.page.locator("#tau").evaluate(
            "(slider, place) => { slider.value = place; slider.dispatchEvent(new Event('input', { bubbles: true })); }", place
        )

    def check(self):
        """There were no errors and no network requests."""
        assert self.said == []
        assert self.dialogs == []
        assert [url for url in self.asked if not url.startswith((self.url, "blob:"))] == []

    def close(self):
        self.check()
        self.context.close()


@pytest.fixture
def visit(browser):
    """Opens pages and closes them at the end, checking what they did."""
    visits = []

    def opened(path, **how):
        visits.append(Visit(browser, path, **how))
        return visits[-1]

    yield opened
    for one in visits:
        one.close()


@pytest.fixture(scope="session")
def spirals(tmp_path_factory):
    """A clustering of two noisy spirals: folder with data.csv, labels.csv, run.json and page.html."""
    folder = tmp_path_factory.mktemp("spirals")
    taugraph("generate", "spirals", "-n", 500, "--noise", 0.15, "-o", folder / "data.csv", "--seed", 3)
    taugraph(
        "cluster", folder / "data.csv", "--label-column", "label", "--clusters", 2, "--stability=5",
        "-o", folder / "labels.csv", "--json", folder / "run.json", "--report", folder / "page.html", "--figures", folder / "figures",
    )  # fmt: skip
    return folder
