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
ELSEWHERE = ROOT / "docs" / "sparse-training.md"

# In the order of the page.
TITLES = {
    "stages": "Single stages",
    "clustering": "The entire clustering, preset `robust`",
    "labels": "Labels from one labeled point per class",
    "python": "From Python",
    "report": "The report in a browser",
    "paper": "Preset `paper`",
    "growth": "From ten thousand to a million points",
    "neighbors": "Approximate neighbors",
    "mnist": "Clusters of 70,000 images",
    "resume": "Interrupted and resumed",
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
    for name, title in TITLES.items():
        kept = DATA / f"section-{name}.json"
        lines = json.loads(kept.read_text()) if kept.exists() else written.get(title)
        if lines:
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
