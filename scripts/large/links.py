"""How much of a run the links between components take, where there are many components."""

import hard_sets
from bench import row
from large.tools import cluster_file, fastest, mark
from performance_page import QUICK, machine

# Few large components, and hundreds of small ones.
SETS = (("separate-topics-384", (10_000, 100_000)), ("crowds-8", (30_000, 100_000, 300_000)))
GOAL = 0.1


def links():
    text = [
        "`taugraph cluster points.npy --clusters K` on `separate-topics-384` (with `--metric cosine --standardize none`; 50 topics that are components of the",
        "graph of neighbors) and on `crowds-8` (a component for every 200 points). The shorter of two runs.",
        f"Goal: the links take at most {GOAL} of the run.",
        "",
        "| points | components | links s | run s | share | goal |",
        "|---|---|---|---|---|---|",
    ]
    for name, sizes in SETS:
        for n in (3000,) if QUICK else sizes:
            path, _ = hard_sets.stored(name, n)
            runs = [cluster_file(path, hard_sets.n_clusters(name, n), *hard_sets.flags(name)) for _ in range(2)]
            text.append(links_row(f"{name} {n:,}", fastest(runs)))
    return [*text, "", machine("numpy") + "."]


def links_row(size, found):
    if "failed" in found:
        return row(size, found["failed"], "", "", "", mark(False))
    report = found["report"]
    taken = sum(stage["seconds"] for stage in report["seconds"] if stage["stage"] == "component links")
    share = taken / found["seconds"]
    components = report["graph"].get("components", "")
    components = len(components) if isinstance(components, list) else components
    return row(size, components, f"{taken:.2f}", f"{found['seconds']:.2f}", f"{share:.2f}", mark(share <= GOAL))
