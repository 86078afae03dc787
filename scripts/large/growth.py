"""Easy sets from ten thousand to a million points."""

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from bench import points, row
from large.tools import cluster_file, estimate_of, exponent, fastest, mark, search_of
from performance_page import MISSED, QUICK, machine


def grown(shape, clusters, n, repeats):
    """The shortest of several runs on n points, with its NMI."""
    path, values, classes = points(shape, n)
    path.unlink()
    table = path.with_suffix(".npy")
    np.save(table, values)
    size = f"{shape} {n:,} × {values.shape[1]}"
    del values
    runs = [cluster_file(table, clusters) for _ in range(repeats)]
    table.unlink()
    best = fastest(runs)
    return size, best if "failed" in best else best | {"nmi": normalized_mutual_info_score(classes, best["labels"])}


def growth_row(size, found, is_largest):
    if "failed" in found:
        return row(size, found["failed"], *[""] * 5, MISSED)
    recall, used = search_of(found["report"])
    reached = not is_largest or (found["seconds"] < 300 and found["peak_bytes"] < 3e9)
    return row(
        size,
        f"{found['seconds']:.2f}",
        f"{found['peak_bytes'] / 1e6:.0f}",
        estimate_of(found["report"]),
        f"{found['nmi']:.3f}",
        f"{recall:.4f}",
        used,
        mark(reached),
    )


def growth():
    sizes = (2000, 3000, 5000) if QUICK else (10_000, 30_000, 100_000, 300_000, 1_000_000)
    least = sizes[1]
    text = [
        "From an NPY file (float64) to a file of labels and JSON, the whole process, all cores, defaults:",
        "`taugraph cluster points.npy --clusters K -o labels.npy --json out.json --quiet`, with K = 20 for `large` (blobs of uneven",
        "density) and 2 for `spirals`. Memory is the peak of the process; the estimate is what taugraph reports that it needs, and",
        "that it may use for the eigenpairs if more is available. The shortest of",
        f"three runs up to 100,000 points, of two above. Goals: time grows at most as N^1.2 from {least:,} points on; a million points with",
        "16 columns in less than 300 s and 3,000 MB.",
        "",
        "| points | s | MB | estimate | NMI | recall | search | goal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    curves = []
    for shape, clusters in (("large", 20), ("spirals", 2)):
        measured = []
        for n in sizes:
            size, found = grown(shape, clusters, n, 3 if n <= 100_000 else 2)
            text.append(growth_row(size, found, is_largest=n == sizes[-1]))
            if "failed" not in found:
                measured.append((n, found["seconds"]))
        if len(measured) > 1:
            from_least, all_of_them = exponent(*zip(*measured), least), exponent(*zip(*measured))
            line = f"- {shape}: time grows as N^{from_least:.2f} from {least:,} points on, as N^{all_of_them:.2f} over all sizes."
            curves.append(line + (f" {MISSED}" if not from_least <= 1.2 else ""))
            print(curves[-1], flush=True)
    return [*text, "", *curves, "", machine("numpy", "scikit-learn") + "."]
