"""How much of a run the links between components take, where there are many large components."""

import hard_sets
from bench import row
from large.tools import cluster_file, fastest, mark
from performance_page import QUICK, machine

NAME, SIZES, GOAL = "separate-topics-384", (10_000, 100_000), 0.1


def links():
    text = [
        f"`taugraph cluster points.npy --clusters 50 --metric cosine --standardize none` on `{NAME}`, 50 topics that are components of the graph of neighbors.",
        f"The shorter of two runs. Goal: the links take at most {GOAL} of the run.",
        "",
        "| points | components | links s | run s | share | goal |",
        "|---|---|---|---|---|---|",
    ]
    for n in (3000,) if QUICK else SIZES:
        path, _ = hard_sets.stored(NAME, n)
        found = fastest([cluster_file(path, hard_sets.n_clusters(NAME), *hard_sets.flags(NAME)) for _ in range(2)])
        if "failed" in found:
            text.append(row(f"{NAME} {n:,}", found["failed"], "", "", "", mark(False)))
            continue
        report = found["report"]
        taken = sum(stage["seconds"] for stage in report["seconds"] if stage["stage"] == "component links")
        share = taken / found["seconds"]
        components = report["graph"].get("components", "")
        components = len(components) if isinstance(components, list) else components
        text.append(row(f"{NAME} {n:,}", components, f"{taken:.2f}", f"{found['seconds']:.2f}", f"{share:.2f}", mark(share <= GOAL)))
    return [*text, "", machine("numpy") + "."]
