"""Writes docs/PERFORMANCE.md from the sections that bench.py and bench_large.py measured and stored in bench-data/: a run of one keeps the
figures of the other. A missing section is taken from the existing page.

With QUICK=1 the sections and the page are written to bench-data/quick/ instead: a trial of the scripts, not a measurement.
"""

import importlib.metadata
import json
import os
import pathlib
import platform
import sys

ROOT = pathlib.Path(__file__).parent.parent
QUICK = os.environ.get("QUICK", "0") not in ("", "0")
DATA = ROOT / "bench-data" / "quick" if QUICK else ROOT / "bench-data"
PAGE = DATA / "PERFORMANCE.md" if QUICK else ROOT / "docs" / "PERFORMANCE.md"
LOSSES = "Where we lose"
ELSEWHERE = ROOT / "docs" / "sparse-training.md"

MISSED = "**missed**"

# In the order of the page.
TITLES = {
    "stages": "Single stages",
    "clustering": "The entire clustering, preset `robust`",
    "labels": "Labels from one labeled point per class",
    "python": "From Python",
    "report": "The report in a browser",
    "paper": "Preset `paper`",
    "growth": "From ten thousand to a million points",
    "hard": "Hard sets from ten thousand to a million points",
    "neighbors": "Approximate neighbors",
    "columns": "Approximate neighbors in many columns",
    "mnist": "Clusters of 70,000 images",
    "embeddings": "Embeddings from file to topics",
    "links": "Links between components",
    "small": "Few points, from Python",
    "disk": "Points on disk",
    "resume": "Interrupted and resumed",
    "partitions": "Partitions",
}


def machine(*packages):
    """Processor, cores and the versions of these packages."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    return f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores; {versions}"


def keep(name, lines):
    (DATA / f"section-{name}.json").write_text(json.dumps(lines))


def sections_of_page():
    """The lines under each title of the existing page."""
    parts = PAGE.read_text().split("\n## ")[1:] if PAGE.exists() else []
    return {title: body.strip("\n").split("\n") for title, body in (part.split("\n", 1) for part in parts)}


def losses(sections):
    """What missed its goal, a line each: rows and lines that are marked, and rows whose ratio is above the goal beside it.

    >>> losses({"Search": ["| points | peer | ratio | goal |", "|---|---|---|---|", f"| 10 | faiss | 0.6 | {MISSED} |", "| 20 | faiss | 0.4 | |"]})[2:]
    ['- Search: 10, faiss, ratio 0.6']
    >>> losses({"Stages": ["| stage | peer | ratio | goal |", "|---|---|---|---|", "| 10 pairs | scipy | 1.3 | 1.2 |", "| 20 | scipy | 1.1 | 1.2 |"]})[2:]
    ['- Stages: 10 pairs, scipy, ratio 1.3']
    """
    found = []
    for title, lines in sections.items():
        names = []
        for line in lines:
            cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
            # The first row of a table has the names.
            names = (names or cells) if cells else []
            if MISSED in line or is_above(dict(zip(names, cells))):
                words = ", ".join(told(names, cells)) if cells else line.removeprefix("- ").replace(MISSED, "").strip()
                found.append(f"- {title}: {words}")
    start = "Every goal that was missed; the sections below have the figures." if found else "No goal was missed."
    return [start, "", *found] if found else [start]


def is_above(row):
    """Whether the ratio is above a goal that is a number."""
    try:
        return float(row["ratio"]) > float(row["goal"])
    except (KeyError, ValueError):
        return False


def told(names, cells):
    """A row in words: its first two cells, the ratio if there is one, and the reasons that are given."""
    for place, (name, cell) in enumerate(zip(names, cells)):
        reasons = cell.partition(MISSED)[2].strip(": ")
        if MISSED in cell and reasons:
            yield reasons
        elif cell and place < 2:
            yield cell
        elif cell and name == "ratio":
            yield f"ratio {cell}"


def write():
    written = sections_of_page()
    text = [
        "# Performance",
        "",
        "Written by `make bench` and `make bench-large`. Seconds are the shortest of several runs that alternated with the",
        "peer's on the same data and the same cores; shared machines are noisy, so the ratio is what counts.",
        "",
        machine("numpy", "scipy", "scikit-learn", "pandas", "pyarrow") + ".",
    ]
    sections = {}
    for name, title in TITLES.items():
        kept = DATA / f"section-{name}.json"
        lines = json.loads(kept.read_text()) if kept.exists() else written.get(title)
        if lines:
            sections[title] = lines
    text += ["", f"## {LOSSES}", "", *losses(sections)]
    for title, lines in sections.items():
        text += ["", f"## {title}", "", *lines]
    if ELSEWHERE.exists():
        text += ["", "## Sparse training", "", f"Measured separately: [{ELSEWHERE.name}]({ELSEWHERE.name})."]
    PAGE.write_text("\n".join(text) + "\n")


def measure(sections, wanted):
    """Runs the wanted sections, all if none is named, and writes the page. A section that returns None keeps its last figures."""
    unknown = [name for name in wanted if name not in sections]
    if unknown:
        sys.exit(f"no section is called {' or '.join(unknown)}; there are {', '.join(sections)}")
    DATA.mkdir(parents=True, exist_ok=True)
    for name in wanted or sections:
        lines = sections[name]()
        if lines is not None:
            keep(name, lines)
            write()
    write()
