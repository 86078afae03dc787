"""Takes the README's screenshot: the report of the demo's spirals in a browser.

    python scripts/screenshot.py PROGRAM OUT.png
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

program, out = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([program, "demo", "--output", folder, "--quiet"], check=True)
    with sync_playwright() as playwright:
        flags = ["--disable-gpu", "--disable-background-networking", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        browser = playwright.chromium.launch(executable_path=os.environ["TAUGRAPH_CHROMIUM"], args=flags)
        page = browser.new_page(viewport={"width": 1200, "height": 1130})
        page.goto((pathlib.Path(folder) / "report.html").as_uri())
        # Quantile 0.3, and a point with its neighbors.
        page.locator("#tau").evaluate("(slider) => { slider.value = 2; slider.dispatchEvent(new Event('input')); }")
        page.focus("#map")
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(1500)
        page.screenshot(path=out)
        browser.close()
