"""The report in a real browser, opened from disk."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import pathlib
import random
import statistics

import numpy as np
import pytest

from conftest import laboratory, taugraph

SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844, "touch": True}}
TYPES = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "f64": np.float64}


def data_of(visit):
    return json.loads(visit.page.locator("#data").text_content())


def array(packed):
    return np.frombuffer(base64.b64decode(packed["base64"]), TYPES[packed["type"]])


def positions(visit, layout=0):
    return array(data_of(visit)["layouts"][layout]["xy"]).reshape(-1, 2) / 65535


def pixels(visit):
    """A fingerprint of what the canvas shows."""
    return visit.page.evaluate("document.getElementById('map').toDataURL()")


def lasso(visit, *corners):
    """Lassos a polygon; corners are fractions of the canvas."""
    box = visit.box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    visit.page.click("#mode-lasso")
    mouse = visit.page.mouse
    mouse.move(*places[0])
    mouse.down()
    for place in places[1:]:
        mouse.move(*place, steps=4)
    mouse.up()


def downloaded(visit):
    with visit.page.expect_download() as download:
        visit.page.click("#download")
    assert download.value.suggested_filename == "selection.csv"
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_opens_everywhere(spirals, visit, size, scheme):
    page = visit(spirals / "page.html", scheme=scheme, **SIZES[size])
    assert page.drawn() > 0
    assert "2 clusters" in page.text("h1")
    for title in ("Decay of the edges", "Local scales", "Eigenvalues", "Clusters", "With and without the quantiles"):
        assert page.page.get_by_role("heading", name=title, exact=True).is_visible()
    widths = page.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1], "nothing sticks out"
    ground = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in ground.strip("rgb()").split(",")) > 3 * 128
    assert light == (scheme == "light")
    # Touching a point works like hovering over it.
    if size == "phone":
        box, (x, y) = page.box(), positions(page)[0]
        side = 0.92 * min(box["width"], box["height"])
        page.page.touchscreen.tap(
            box["x"] + box["width"] / 2 + (x - 0.5) * side, box["y"] + box["height"] / 2 - (y - 0.5) * side
        )
        assert "row" in page.text("#detail h3 >> nth=0")


def test_every_panel_is_drawn(spirals, visit):
    page = visit(spirals / "page.html")
    panels = data_of(page)["panels"]
    assert {"answer", "decay", "scales", "eigenvalues", "groups", "comparison", "preparation", "stages", "settings"} <= set(panels)
    for name in panels:
        assert page.page.locator(f"#panel-{name}").is_visible(), name
    # Links to points, and the dot of the quantile shown.
    page.page.locator("#panel-scales .link").first.click()
    assert page.text("#detail h3 >> nth=0") == page.text("#panel-scales .link >> nth=0")
    page.set_tau(4)
    assert page.page.locator("#panel-decay .now").evaluate_all("dots => dots.map(dot => dot.dataset.tau)") == ["4"]
    # The sections are named by their headings.
    assert page.page.get_by_role("region", name="Points and edges").is_visible()


def test_layers_walk_from_coarse_to_fine(tmp_path, visit):
    """Two pairs of groups: 2 or 4."""
    draws = random.Random(4)
    centers = [(0, 0), (6, 0), (60, 0), (66, 0)]
    rows = [f"{x + draws.gauss(0, 1)},{y + draws.gauss(0, 1)}" for x, y in centers for _ in range(80)]
    (tmp_path / "data.csv").write_text("a,b\n" + "\n".join(rows) + "\n")
    taugraph("cluster", tmp_path / "data.csv", "-o", tmp_path / "labels.csv", "--json", tmp_path / "run.json", "--report", tmp_path / "page.html")
    found = json.loads((tmp_path / "run.json").read_text())["clusters"]
    page = visit(tmp_path / "page.html")
    assert found["count_by_boundaries"]["sentence"].lower() in page.text("#panel-answer").lower()
    buttons = page.page.locator("#layers button")
    counts = [layer["n_clusters"] for layer in found["layers"]]
    assert counts == sorted(counts) and len(counts) > 1 and buttons.all_inner_texts() == [str(count) for count in counts]
    pictures = set()
    for place, count in enumerate(counts):
        buttons.nth(place).click()
        assert page.page.locator("#color option:checked").inner_text() == f"layer of {count}"
        page.settle()
        pictures.add(pixels(page))
    assert len(pictures) == len(counts), "every layer has its colors"
    assert "Rule:" in page.text("#panel-answer")


def test_the_slider_says_what_the_json_says(spirals, visit):
    page = visit(spirals / "page.html")
    decay = json.loads((spirals / "run.json").read_text())["graph"]["decay"]
    assert len(decay) == 9
    pictures = set()
    for place, step in enumerate(decay):
        page.set_tau(place)
        says = page.text("#tau-says")
        assert f"τ = {step['tau']}" in says and f"{step['edges']:,} edge" in says
        page.settle()
        pictures.add(pixels(page))
    assert len(pictures) > 4, "the picture thins out"
    components = [step["components"] for step in data_of(page)["steps"]]
    assert components == sorted(components), "the graph breaks apart"


def test_a_point_shows_its_row(spirals, visit):
    page = visit(spirals / "page.html")
    box, xy = page.box(), positions(page)
    side = 0.92 * min(box["width"], box["height"])
    point = 123
    left = box["x"] + box["width"] / 2 + (xy[point, 0] - 0.5) * side
    top = box["y"] + box["height"] / 2 - (xy[point, 1] - 0.5) * side
    page.page.mouse.move(left - 200, top - 150)
    page.page.mouse.move(left, top)
    shown = page.text("#detail")
    row = int(shown.split("row ")[1].split()[0].replace(",", ""))
    # Another point may lie on top of it, but not elsewhere.
    assert np.abs(xy[row - 1] - xy[point]).max() * side < 15
    with open(spirals / "data.csv") as file:
        cells = list(csv.DictReader(file))[row - 1]
    assert f"{float(cells['x1']):.4g}" in shown and "neighbors" in shown and "mean stability" in shown


def test_colors_change_the_picture(spirals, visit):
    page = visit(spirals / "page.html")
    names = page.page.locator("#color option").all_inner_texts()
    assert {"cluster", "known label", "stability", "robust scale", "first scale", "x1", "component at τ"} <= set(names)
    pictures = []
    for name in ("cluster", "stability", "robust scale", "x1", "component at τ"):
        page.page.select_option("#color", label=name)
        page.settle()
        pictures.append(pixels(page))
    assert len(set(pictures)) == len(pictures)
    for layout in page.page.locator("#layout option").all_inner_texts():
        page.page.select_option("#layout", label=layout)
        page.settle()
        pictures.append(pixels(page))
    assert len(set(pictures)) >= len(pictures) - 1
    page.page.uncheck("#show-edges")
    page.settle()
    assert pixels(page) not in pictures


def test_a_lasso_selects_what_is_inside(spirals, visit):
    page = visit(spirals / "page.html")
    lasso(page, (0.5, 0.01), (0.01, 0.01), (0.01, 0.99), (0.5, 0.99), (0.5, 0.01))
    # The middle of the map is the middle of the points.
    expected = set((np.flatnonzero(positions(page)[:, 0] < 0.5 - 1e-3) + 1).tolist())
    maybe = set((np.flatnonzero(positions(page)[:, 0] < 0.5 + 1e-3) + 1).tolist())
    rows = downloaded(page)
    found = {int(row["row"]) for row in rows}
    assert expected <= found <= maybe
    assert f"{len(rows)} of 500 points selected" in page.text("#selected")
    with open(spirals / "labels.csv") as file:
        labels = list(csv.DictReader(file))
    with open(spirals / "data.csv") as file:
        cells = list(csv.DictReader(file))
    for row in rows:
        place = int(row["row"]) - 1
        assert row["cluster"] == labels[place]["cluster"] and row["known label"] == cells[place]["label"]
        assert float(row["stability"]) == float(labels[place]["stability"])
        assert float(row["x1"]) == float(cells[place]["x1"]), "not a digit is lost"
    page.page.click("#clear")
    assert page.text("#selected") == "No points selected."


def test_the_legend_hides_and_selects(spirals, visit):
    page = visit(spirals / "page.html")
    before = pixels(page)
    toggle = page.page.locator(".entry .toggle").first
    toggle.click()
    page.settle()
    assert toggle.get_attribute("aria-pressed") == "false" and pixels(page) != before
    toggle.click()
    page.page.locator(".entry .pick").nth(1).click()
    rows = downloaded(page)
    assert rows and {row["cluster"] for row in rows} == {"1"}


def test_the_keyboard_is_enough(spirals, visit):
    page = visit(spirals / "page.html")
    page.page.focus("#map")
    shown = []
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"):
        page.page.keyboard.press(key)
        shown.append(page.text("#detail h3 >> nth=0"))
    assert all("row" in one for one in shown) and len(set(shown)) > 1
    page.page.keyboard.press("Enter")
    assert page.text("#selected").startswith("1 of")
    page.page.keyboard.press("+")
    # Everything that can be used has a name, and can be reached.
    for control in page.page.locator("button, select, input, canvas").all():
        name = control.evaluate(
            "e => e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim() || e.textContent.trim() || ''"
        )
        assert name, control.evaluate("e => e.outerHTML")


def test_it_prints(spirals, visit):
    page = visit(spirals / "page.html")
    page.page.emulate_media(media="print")
    assert not page.page.locator(".controls").is_visible()
    assert len(page.page.pdf()) > 20_000


EVIL = '</script><script>window.pwned=1;alert(1)</script><img src=x onerror="window.pwned=1">'


def test_data_is_data(tmp_path, visit):
    """Names of columns, labels, rows and files that contain markup."""
    names = [EVIL, 'a "quoted"\nname', "مرحبا بالعالم", "🦀 crab"]
    rng = np.random.default_rng(1)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["id", *names, "class\u2028"])
    for row in range(90):
        label = [EVIL, "=1+1", "שלום"][row % 3]
        writer.writerow([f"{row}{EVIL}", *(rng.normal(3 * (row % 3), 1, 4).round(4)), label])
    folder = tmp_path / "it's a <b>folder 🦀"
    folder.mkdir()
    data = folder / "<img src=x onerror=alert(1)>.csv"
    data.write_text(text.getvalue(), encoding="utf-8")
    page_file = tmp_path / "page.html"
    taugraph(
        "cluster", data, "--id-column", "id", "--label-column", "class\u2028", "--clusters", 3,
        "--report", page_file, "-o", tmp_path / "labels.csv",
    )  # fmt: skip
    page = visit(page_file)
    assert page.page.evaluate("window.pwned") is None
    assert page.page.evaluate("[document.scripts.length, document.images.length]") == [2, 0]
    assert "<img src=x onerror=alert(1)>" in page.text("h1")
    page.page.select_option("#color", label="known label")
    page.page.focus("#map")
    page.page.keyboard.press("ArrowRight")
    assert EVIL in page.text("#detail") and "🦀 crab" in page.text("#detail")
    for pick in page.page.locator(".entry .pick").all():
        pick.click()
    lasso(page, (0.01, 0.01), (0.01, 0.99), (0.99, 0.99), (0.99, 0.01), (0.01, 0.01))
    rows = downloaded(page)
    assert len(rows) == 90 and {row["known label"] for row in rows} == {EVIL, "'=1+1", "שלום"}, "no formula"
    assert list(rows[0])[1] == "id" and set(names) <= set(rows[0]), "names come back as they were"
    assert page.page.evaluate("window.pwned") is None


def test_every_command_has_a_page(tmp_path, visit):
    taugraph("generate", "blobs", "-n", 300, "--blobs", 3, "--columns", 5, "-o", tmp_path / "data.csv", "--seed", 2)
    lines = (tmp_path / "data.csv").read_text().splitlines()
    # Every tenth row keeps its label.
    few = [line if place % 10 == 1 or place == 0 else line.rsplit(",", 1)[0] + "," for place, line in enumerate(lines)]
    (tmp_path / "few.csv").write_text("\n".join(few) + "\n")
    taugraph("propagate", tmp_path / "few.csv", "--labels", "label", "-o", tmp_path / "l.csv", "--report", tmp_path / "propagate.html")
    taugraph("graph", tmp_path / "data.csv", "--drop", "label", "-o", tmp_path / "graph.npz", "--report", tmp_path / "graph.html")
    taugraph("cluster", tmp_path / "graph.npz", "--clusters", 3, "-o", tmp_path / "g.csv", "--report", tmp_path / "given.html")
    laboratory("paper", "noise", "--slice", "--output", tmp_path / "paper", "--report", tmp_path / "paper.html", "--quiet")
    taugraph("demo", "--output", tmp_path / "demo", "--quiet")
    page = visit(tmp_path / "propagate.html")
    assert page.page.get_by_role("heading", name="Labels", exact=True).is_visible()
    assert "abstentions" in page.text("#facts") and "margin" in page.page.locator("#color").inner_text()
    page = visit(tmp_path / "graph.html")
    assert page.page.locator("#layout option").count() == 3 and page.drawn() > 0
    page = visit(tmp_path / "given.html")
    assert not page.page.locator("#tau-row").is_visible() and page.drawn() > 0
    page = visit(tmp_path / "paper.html")
    assert page.page.locator("table").count() >= 1 and page.page.locator("img").count() >= 1
    page = visit(tmp_path / "demo" / "report.html")
    assert "spirals.csv: 2 clusters" in page.text("h1") and "taugraph cluster" in page.text("#command")


def test_pages_have_the_same_bytes_on_any_threads(tmp_path, spirals):
    pages = []
    for threads in (1, 2):
        out = tmp_path / f"{threads}.html"
        taugraph("cluster", spirals / "data.csv", "--label-column", "label", "-o", tmp_path / "l.csv", "--report", out, "--threads", threads)
        data = out.read_text().split('id="data">')[1].split("</script>")[0]
        found = json.loads(data)
        # Times may differ.
        del found["facts"], found["panels"]["stages"]
        pages.append(found)
    assert pages[0] == pages[1]


def test_panning_many_points_is_smooth(tmp_path, visit):
    """20,000 points and more than 200,000 edges: frame times are reported, the file size is checked."""
    taugraph("generate", "blobs", "-n", 20_000, "--blobs", 12, "--columns", 10, "-o", tmp_path / "data.csv", "--seed", 1)
    taugraph("cluster", tmp_path / "data.csv", "--label-column", "label", "--clusters", 12, "-o", tmp_path / "l.csv", "--report", tmp_path / "page.html", "--neighbors", 18)
    size = (tmp_path / "page.html").stat().st_size
    assert size < 6e6
    page = visit(tmp_path / "page.html")
    found = data_of(page)
    n_edges = len(array(found["edges"]["targets"]))
    assert found["points"]["shown"] == 20_000 and n_edges >= 200_000
    page.page.evaluate(
        "window.times = []; const next = (now) => { window.times.push(now); requestAnimationFrame(next); }; requestAnimationFrame(next)"
    )
    box = page.box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.page.mouse.move(*middle)
    page.page.evaluate("window.times.length = 0")
    page.page.mouse.down()
    for step in range(120):
        page.page.mouse.move(middle[0] + 80 * np.sin(step / 10), middle[1] + 60 * np.cos(step / 10))
    page.page.mouse.up()
    times = np.diff(page.page.evaluate("window.times"))
    assert len(times) > 10
    page.settle()
    redrawn = page.page.locator("#tau").evaluate(
        """(slider) => new Promise((resolve) => {
            const begun = performance.now();
            const watch = new MutationObserver(() => resolve(performance.now() - begun));
            watch.observe(document.getElementById("map"), { attributeFilter: ["data-drawn"] });
            slider.value = 2;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        })"""
    )
    says = {
        "points": 20_000,
        "edges": n_edges,
        "file_mb": round(size / 1e6, 2),
        "frames": len(times),
        "median_ms": round(statistics.median(times), 1),
        "p95_ms": round(float(np.percentile(times, 95)), 1),
        "worst_ms": round(float(times.max()), 1),
        "another_quantile_ms": round(redrawn),
    }
    print("panning:", json.dumps(says))
    if folder := os.environ.get("TAUGRAPH_MEASURED"):
        (pathlib.Path(folder) / "panning.json").write_text(json.dumps(says))
