"""How many clusters: ours beside scikit-learn's HDBSCAN and, with --peers, EVoC, PLSCAN and UMAP + HDBSCAN.

    clusters.py [--seeds N] [--no-images] [--peers] [OUTPUT]

Prints and writes docs/CLUSTERS.md. The answers of the others, which take most of the time, are kept in target/cluster-answers.json: an
interrupted run goes on from there, and a run after a change of ours asks only us. Nothing is tuned on these seeds: 100 and above served the development, 0 and above are reported.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections import defaultdict
from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

import taugraph
from cluster_sets import Set, real, structureless, synthetic

ROOT = Path(__file__).resolve().parents[1]
THRESHOLDS = (2.0, 3.12, 5.0)
ANSWERS = ROOT / "target" / "cluster-answers.json"


def prepared(data: Set) -> np.ndarray:
    """What every method gets: z-scores, images and unit vectors as they are."""
    if data.group in ("images", "topics"):
        return data.X
    spread = data.X.std(0)
    return (data.X[:, spread > 0] - data.X.mean(0)[spread > 0]) / spread[spread > 0]


def ours(data: Set):
    X = prepared(data)
    graph = taugraph.RobustGraph(metric=data.metric, standardize="none")
    found = taugraph.SpectralClustering(graph=graph, random_state=0).fit(X)
    return found.labels_, found.count_["resistance"]


def hdbscan(data: Set):
    X = prepared(data)
    return HDBSCAN(copy=True).fit_predict(X), None


def umap_hdbscan(data: Set):
    import umap

    embedded = umap.UMAP(n_neighbors=30, min_dist=0.0, metric=data.metric, random_state=0).fit_transform(prepared(data))
    return HDBSCAN(min_cluster_size=max(5, len(embedded) // 100), copy=True).fit_predict(embedded), None


def evoc(data: Set):
    import evoc

    return evoc.EVoC().fit_predict(np.ascontiguousarray(prepared(data), dtype=np.float32)), None


def plscan(data: Set):
    from fast_plscan import PLSCAN

    return PLSCAN().fit_predict(np.ascontiguousarray(prepared(data), dtype=np.float32)), None


def count(labels: np.ndarray) -> int:
    """Groups found; noise alone is one group."""
    return max(1, len(np.unique(labels[labels >= 0])))


def measured(name, method, data: Set):
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels, resistance = method(data)
    except Exception as error:  # A peer that fails on a set has no answer there.
        print(f"{name} failed on {data.name}: {error}")
        return None
    k = count(labels)
    agreement = adjusted_rand_score(data.y, labels) if data.k > 1 else math.nan
    return {"k": k, "ari": agreement, "seconds": time.process_time() - begin, "resistance": resistance}


class Answers:
    """What the others answered, by method and set."""

    def __init__(self):
        self.kept = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}

    def of(self, name, method, data: Set, seed):
        if name == "taugraph":
            return measured(name, method, data)
        key = f"{name} | {data.name} | {seed}"
        if key not in self.kept:
            self.kept[key] = measured(name, method, data)
            ANSWERS.parent.mkdir(exist_ok=True)
            unfinished = ANSWERS.with_suffix(".tmp")
            unfinished.write_text(json.dumps(self.kept, indent=1))
            unfinished.replace(ANSWERS)
        return self.kept[key]


def mean(values):
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values) if values else math.nan


def shown(value, digits=2):
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def summary(rows, methods):
    """Rows of the table by group."""
    groups = defaultdict(list)
    for data, results in rows:
        groups[data.group].append((data, results))
    yield "| sets | " + " | ".join(f"{name}: exact | ±1 | abs ln k̂/k | ARI" for name in methods) + " |"
    yield "|---|" + "---|---|---|---|" * len(methods)
    synthetic_groups = [group for group in groups if group not in ("structureless", "tables", "images")]
    together = [item for group in synthetic_groups for item in groups[group]]
    for title, items in [*groups.items(), ("**all synthetic**", together)]:
        cells = []
        for name in methods:
            found = [(data, results[name]) for data, results in items if results[name]]
            exact = sum(data.k == one["k"] for data, one in found)
            near = sum(abs(data.k - one["k"]) <= 1 for data, one in found)
            off = mean([abs(math.log(one["k"] / data.k)) for data, one in found])
            cells.append(f"{exact} of {len(found)} | {near} | {shown(off)} | {shown(mean([one['ari'] for _, one in found]))}")
        yield f"| {title} | " + " | ".join(cells) + " |"


def details(rows, methods):
    """Every set: the number found for each seed."""
    by_name = defaultdict(list)
    for data, results in rows:
        by_name[(data.group, data.name, data.k)].append(results)
    yield "| set | k | " + " | ".join(methods) + " |"
    yield "|---|---|" + "---|" * len(methods)
    for (_, name, k), found in by_name.items():
        cells = [", ".join(str(results[method]["k"]) if results[method] else "–" for results in found) for method in methods]
        yield f"| {name} | {k} | " + " | ".join(cells) + " |"


def rates(rows):
    """How often structureless sets reach a resistance."""
    reached = [results["taugraph"]["resistance"] for data, results in rows if data.group == "structureless" and results["taugraph"]]
    yield "| resistance at least | share of structureless sets |"
    yield "|---|---|"
    for threshold in THRESHOLDS:
        yield f"| {threshold} | {sum(value >= threshold for value in reached)} of {len(reached)} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output", nargs="?", default=ROOT / "docs" / "CLUSTERS.md", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--no-images", action="store_true")
    parser.add_argument("--peers", action="store_true")
    arguments = parser.parse_args()
    methods = {"taugraph": ours, "HDBSCAN": hdbscan}
    if arguments.peers:
        methods |= {"UMAP + HDBSCAN": umap_hdbscan, "EVoC": evoc, "PLSCAN": plscan}
    rows = []
    generated = ((seed, data) for seed in range(arguments.seeds) for make in (structureless, synthetic) for data in make(seed))
    answers = Answers()
    for seed, data in chain(generated, ((None, data) for data in real(mnist=not arguments.no_images))):
        asked = {name: method for name, method in methods.items() if name != "HDBSCAN" or len(data.y) <= 20_000}
        results = {name: answers.of(name, method, data, seed) for name, method in asked.items()}
        results.setdefault("HDBSCAN", None)
        rows.append((data, results))
        print(data.name, data.k, {name: one and one["k"] for name, one in results.items()}, flush=True)
    names = list(methods)
    lines = [
        "# How many clusters",
        "",
        f"Written by `make clusters`. Seeds 0 to {arguments.seeds - 1}; nothing was chosen on them, but tables and images served the choice of the constants (docs/decisions/0025). Every method gets the same z-scored columns (images: 50 principal components; topics: unit vectors)",
        "and its defaults. Noise of HDBSCAN counts as one group if it finds no other; ARI counts all rows. HDBSCAN is left out above 20,000 rows.",
        "",
        *summary(rows, names),
        "",
        "## Resistance of structureless sets",
        "",
        "What stands behind the words: a resistance below 2 is no evidence, below 3.12 weak, below 5 moderate, above strong. These are measured rates, not p-values.",
        "",
        *rates(rows),
        "",
        "## Every set",
        "",
        "The number found, one for each seed.",
        "",
        *details(rows, names),
        "",
    ]
    arguments.output.write_text("\n".join(lines))
    print("\n".join(summary(rows, names)))


if __name__ == "__main__":
    main()
