"""How much of a run the links between components take, where there are many components."""

import hard_sets
from bench import row
from large.tools import cluster_file, fastest, mark
from performance_page import QUICK, machine

# Few large components, and hundreds or thousands of small ones: as many clusters as groups (None), or far fewer.
SETS = (
    ("separate-topics-384", (10_000, 100_000), None),
    ("crowds-8", (30_000, 100_000, 300_000), None),
    ("crowds-8", (300_000,), 20),
    ("swarms-8", (150_000,), 50),
)
GOAL = 0.1


def links():
    text = [
        "`taugraph cluster points.npy --clusters K` on `separate-topics-384` (with `--metric cosine --standardize none`; 50 topics that are components of the",
        "graph of neighbors), on `crowds-8` (a component for every 200 points) and on `swarms-8` (for every 20). The shorter of two runs.",
        f"Goal: the links take at most {GOAL} of the run.",
        "",
        "| points | clusters | components | links s | run s | share | goal |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, sizes, n_clusters in SETS:
        for n in (3000,) if QUICK else sizes:
            path, _ = hard_sets.stored(name, n)
            wanted = n_clusters or hard_sets.n_clusters(name, n)
            runs = [cluster_file(path, wanted, *hard_sets.flags(name)) for _ in range(2)]
            text.append(links_row(f"{name} {n:,}", wanted, fastest(runs)))
    return [*text, "", machine("numpy") + "."]


def links_row(size, wanted, found):
    if "failed" in found:
        return row(size, wanted, found["failed"], "", "", "", mark(False))
    report = found["report"]
    taken = sum(stage["seconds"] for stage in report["seconds"] if stage["stage"] == "component links")
    share = taken / found["seconds"]
    components = report["graph"].get("components", "")
    components = len(components) if isinstance(components, list) else components
    return row(size, wanted, components, f"{taken:.2f}", f"{found['seconds']:.2f}", f"{share:.2f}", mark(share <= GOAL))
