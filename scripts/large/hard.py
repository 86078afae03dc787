"""Whole runs on the hard sets: time, memory, estimate, quality, stages, growth; beside an older program if BASELINE names one."""

import os

from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import hard_sets
import performance_page
from bench import row
from large.tools import MILLION, MOST, TAUGRAPH, available_bytes, cluster_file, efficiency, estimate_of, exponent, fastest, missed, search_of
from performance_page import MISSED, QUICK, machine

ALL = (10_000, 100_000, 300_000, 1_000_000)
SETS = {
    "mixture-16": ALL,
    "mixture-64": ALL,
    "tails-16": ALL,
    "copies-16": ALL,
    "spirals-2": ALL,
    "topics-384": ALL,
    "topics-768": (10_000, 100_000),
    "mnist-784": (10_000, 70_000, 300_000, 1_000_000),
}
MOST_OF_BASELINE = 100_000
# Sets that are measured; of the others the page keeps what it has. Empty: all.
ONLY = os.environ.get("SETS", "").split()
TABLES = ("runs", "stages", "baseline", "growth")
STAGES = "Seconds of the stages, with their parallel efficiency:"
BASELINE = "Compared with an older program in the same run, alternating:"
MOST_GROWTH, LEAST_EFFICIENCY = 1.15, 0.9
# The one with a goal for time and memory, compared with 0.1.0.
MEASURED_BY, MOST_RATIO, MOST_BYTES = ("mixture-16", MILLION), 0.6, 2.2e9
# The program and its libraries, which the estimate leaves out (docs/COMMAND-LINE.md).
PROGRAM_BYTES = 20e6
# Points in double precision, their single-precision copy, the graph: a run takes about twice the points.
BYTES_PER_BYTE = 2.2


def programs(name, n):
    """This program and, if it is given, an older one, which would take hours for all of the large sets."""
    baseline = os.environ.get("BASELINE", "")
    is_compared = baseline and (n <= MOST_OF_BASELINE or (name, n) == MEASURED_BY)
    return {"": TAUGRAPH, **({"baseline": baseline} if is_compared else {})}


def scored(found, labels):
    if "failed" in found:
        return found
    return found | {"nmi": normalized_mutual_info_score(labels, found["labels"]), "ari": adjusted_rand_score(labels, found["labels"])}


def measured(name, n):
    """The shortest runs of every program, alternating; None if the set is not there or does not fit."""
    if BYTES_PER_BYTE * hard_sets.bytes_of(name, n) > available_bytes():
        return {"skipped": "skipped, not enough memory is available"}
    stored = hard_sets.stored(name, n)
    if stored is None:
        return {"skipped": "skipped, TAUGRAPH_DATA names no folder with mnist/"}
    path, labels = stored
    runs = {program: [] for program in programs(name, n)}
    for _ in range(2 if n <= 100_000 or (name, n) == MEASURED_BY else 1):
        for program, where in programs(name, n).items():
            runs[program].append(cluster_file(path, hard_sets.n_clusters(name), *hard_sets.flags(name), program=where))
    best = {program: scored(fastest(found), labels) for program, found in runs.items()}
    accuracy = hard_sets.knn_accuracy(path, labels)
    if n > 100_000:
        # Gigabytes; they are generated again when they are needed.
        path.unlink()
    return best | {"accuracy": accuracy}


def run_row(name, n, found):
    size = f"{name} {n:,}"
    if "skipped" in found:
        return row(size, found["skipped"], *[""] * 9)
    own = found[""]
    if "failed" in own:
        return row(size, own["failed"], *[""] * 8, MISSED)
    recall, used = search_of(own["report"])
    estimated = own["report"]["memory"]["estimated_bytes"]
    goals = missed(
        ("estimate under the peak", own["peak_bytes"] <= estimated + PROGRAM_BYTES),
        ("memory", (name, n) != MEASURED_BY or own["peak_bytes"] <= MOST_BYTES),
        (f"efficiency {efficiency(own):.2f}", n < MILLION or efficiency(own) >= LEAST_EFFICIENCY),
    )
    return row(
        size,
        f"{own['seconds']:.2f}",
        f"{own['peak_bytes'] / 1e6:.0f}",
        estimate_of(own["report"]),
        f"{own['nmi']:.3f}",
        f"{own['ari']:.3f}",
        f"{found['accuracy']:.3f}",
        f"{recall:.4f}, {used}",
        own["report"].get("clusters", {}).get("method", ""),
        f"{efficiency(own):.2f}",
        goals,
    )


def stage_row(name, n, own, least=0.01):
    """Seconds of the stages that took at least that share, and their parallel efficiency."""
    stages = own["report"]["seconds"]
    whole = sum(stage["seconds"] for stage in stages)
    told = [
        f"{stage['stage']} {stage['seconds']:.2f}" + (f" ({stage['parallel_efficiency']:.2f})" if "parallel_efficiency" in stage else "")
        for stage in stages
        if stage["seconds"] >= least * whole
    ]
    return row(f"{name} {n:,}", ", ".join(told))


def baseline_row(name, n, found):
    own, old = found[""], found["baseline"]
    if "failed" in own or "failed" in old:
        return row(f"{name} {n:,}", own.get("failed", ""), old.get("failed", ""), *[""] * 6)
    ratio = own["seconds"] / old["seconds"]
    goals = missed(
        ("time", (name, n) != MEASURED_BY or ratio <= MOST_RATIO),
        ("NMI", own["nmi"] >= old["nmi"] - 0.005),
        ("ARI", own["ari"] >= old["ari"] - 0.005),
    )
    pairs = [f"{one:.3f}, {other:.3f}" for one, other in ((own["nmi"], old["nmi"]), (own["ari"], old["ari"]))]
    times, memory = (own["seconds"], old["seconds"]), (own["peak_bytes"] / 1e6, old["peak_bytes"] / 1e6)
    return row(f"{name} {n:,}", *(f"{time:.2f}" for time in times), f"{ratio:.2f}", *(f"{mb:.0f}" for mb in memory), *pairs, goals)


def growth_line(name, runs):
    times = [(n, found[""]["seconds"]) for n, found in runs if "failed" not in found.get("", {"failed": ""})]
    if len(times) < 2:
        return f"- {name}: too few sizes."
    slope = exponent(*zip(*times))
    line = f"- {name}: time grows as N^{slope:.2f} from {times[0][0]:,} to {times[-1][0]:,} points."
    return line + (f" {MISSED}" if slope > MOST_GROWTH else "")


def kept(name):
    """What the page has of a set that is not measured in this run."""
    lines = performance_page.sections_of_page().get(performance_page.TITLES["hard"], [])
    tables = {title: [] for title in TABLES}
    title = "runs"
    for line in lines:
        title = {STAGES: "stages", BASELINE: "baseline"}.get(line, title)
        if line.startswith(f"| {name} "):
            tables[title].append(line)
        elif line.startswith(f"- {name}:"):
            tables["growth"].append(line)
    return tables


def hard():
    tables = {title: [] for title in TABLES}
    for name, sizes in SETS.items():
        if ONLY and name not in ONLY:
            for title, lines in kept(name).items():
                tables[title] += lines
            continue
        runs = []
        for n in (1000, 3000) if QUICK else [n for n in sizes if n <= MOST or (name, n) == MEASURED_BY]:
            found = measured(name, n)
            runs.append((n, found))
            tables["runs"].append(run_row(name, n, found))
            if "failed" not in found.get("", {"failed": ""}):
                tables["stages"].append(stage_row(name, n, found[""]))
            if "baseline" in found:
                tables["baseline"].append(baseline_row(name, n, found))
        tables["growth"].append(growth_line(name, runs))
        print(tables["growth"][-1], flush=True)
    return [*explained(), *told(tables), "", machine("numpy", "scikit-learn") + "."]


def explained():
    return [
        "`taugraph cluster points.npy --clusters K -o labels.npy --json out.json --quiet` on sets that nothing was tuned for (scripts/hard_sets.py says how they are made):",
        "groups that overlap (`mixture`), heavy tails, copies (half of the rows are copies of one percent), noisy spirals, unit vectors (`--metric cosine",
        "--standardize none`), and MNIST with noisy copies (`--standardize none`). *k-NN* is the share of 1,000 points whose group is the commonest among their 15",
        "neighbors in a sample of 50,000: what the overlap leaves. Memory is the peak of the process, the estimate what taugraph reports that it needs for the data (the program",
        "takes 20 MB besides), and that it may use if more is available. Efficiency is processor time / (time × cores). The shorter of two runs up to 100,000 points, one run above.",
        f"Goals: the estimate is never under the peak; time grows at most as N^{MOST_GROWTH}; efficiency at least {LEAST_EFFICIENCY} for a million points; a million points of `mixture-16` within",
        f"{MOST_BYTES / 1e6:,.0f} MB and at most {MOST_RATIO} of the time of 0.1.0.",
        *([f"Of all other sets, those of more than {MOST:,} points were left out of this run."] if MOST < MILLION else []),
        "",
    ]


def told(tables):
    text = [
        "| points | s | MB | estimate | NMI | ARI | k-NN | recall, search | method | efficiency | goal |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *tables["runs"],
        "",
        *tables["growth"],
        "",
        STAGES,
        "",
        "| points | stages |",
        "|---|---|",
        *tables["stages"],
    ]
    if tables["baseline"]:
        text += [
            "",
            BASELINE,
            "",
            "| points | s | its s | ratio | MB | its MB | NMI, its | ARI, its | goal |",
            "|---|---|---|---|---|---|---|---|---|",
            *tables["baseline"],
        ]
    return text
