"""Points that do not fit into the memory limit."""

import numpy as np

import hard_sets
from bench import row
from large.tools import cluster_file, fastest, missed
from performance_page import QUICK, machine

NAME, N, LIMIT, GOAL = "mixture-500", 200_000, "850M", 3.0


def disk():
    n = 3000 if QUICK else N
    # A trial is too small for any limit.
    limited = ["--features", "disk"] if QUICK else ["--memory", LIMIT]
    path, labels = hard_sets.stored(NAME, n)
    runs = {"without a limit": [], " ".join(limited): []}
    for _ in range(1 if QUICK else 2):
        for (name, found), flags in zip(runs.items(), ([], limited)):
            found.append(cluster_file(path, hard_sets.n_clusters(NAME), *flags))
    path.unlink()
    best = {name: fastest(found) for name, found in runs.items()}
    first = best["without a limit"]
    text = [
        f"`taugraph cluster points.npy --clusters 20` on `{NAME}`, {n:,} rows, {path.name} with {8 * 500 * n / 1e6:,.0f} MB, in memory and with a limit that leaves the points on disk. Peak",
        "memory includes mapped pages, which the system could have reclaimed; the file is in the system's cache. The shorter of two alternating runs.",
        f"Goal: at most {GOAL:.0f} times the time, the same labels.",
        "",
        "| run | points are on | s | ratio | MB | same labels | goal |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, found in best.items():
        if "failed" in found:
            text.append(row(name, "", found["failed"], "", "", "", missed(("failed", False))))
            continue
        ratio = found["seconds"] / first["seconds"]
        same = np.array_equal(found["labels"], first["labels"])
        goals = missed((f"{ratio:.1f} times the time", ratio <= GOAL), ("other labels", same))
        place = found["report"]["input"]["features_are_on"]
        text.append(row(name, place, f"{found['seconds']:.2f}", f"{ratio:.2f}", f"{found['peak_bytes'] / 1e6:.0f}", "yes" if same else "no", goals))
    return [*text, "", machine("numpy") + "."]
