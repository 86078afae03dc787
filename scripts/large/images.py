"""Clusters of MNIST compared with spectral clustering of scikit-learn and graphlearning."""

from sklearn.datasets import load_digits

from bench import BENCH, images_of_mnist, lines_of, row, save
from large.cluster_peers import METHODS
from large.neighbor_peers import K
from large.tools import PATIENCE, TWO_THREADS, fastest, peer
from performance_page import DATA, MISSED, QUICK, machine


def images():
    """MNIST; in a trial the small digits of scikit-learn."""
    if not QUICK:
        found = images_of_mnist()
        return found and found[:3]
    path, (values, classes) = DATA / "digits.f64", load_digits(return_X_y=True)
    save(path, values, classes)
    return path, values, classes


def own_clusters(path):
    found = lines_of(*TWO_THREADS, BENCH, "cluster", path, "robust", 10, "none")
    return {key: float(found[key]) for key in ("seconds", "nmi", "ari", "peak_bytes")}


def mnist():
    found = images()
    if found is None:
        print("mnist: skipped, TAUGRAPH_DATA names no folder with mnist/", flush=True)
        return None
    path, values, _ = found
    ours, theirs = [], {name: [] for name in METHODS}
    for _ in range(1 if QUICK else 2):
        ours.append(own_clusters(path))
        for name, runs in theirs.items():
            if not any("failed" in one for one in runs):
                runs.append(peer("cluster", name, path, 10))
    own = fastest(ours)
    text = [
        f"{len(values):,} images in {values.shape[1]} columns" + (", 50 principal components" if values.shape[1] == 50 else "") + ", into 10 clusters,",
        "from the points to the labels, two threads each: `bench cluster FILE robust 10 none` (columns unscaled, as for the peers) compared with",
        f'`SpectralClustering(affinity="nearest_neighbors", n_neighbors={K}, assign_labels="kmeans")` with `eigen_solver="amg"` and `"lobpcg"`, graphlearning',
        f"(`weightmatrix.knn(X, {K})`, `clustering.spectral`) with its own search and with the neighbors that pynndescent found, and scikit-learn with",
        f'amg on the symmetric graph of those neighbors (`affinity="precomputed"`). The shortest of two alternating runs; a peer has {PATIENCE // 60} minutes.',
        "Goal: at most 0.5 of each peer's time, NMI and ARI against the digits at least as good (within 0.005).",
        "",
        "| method | s | taugraph's s : its s | NMI | ARI | MB | goal |",
        "|---|---|---|---|---|---|---|",
        row("taugraph", f"{own['seconds']:.1f}", "", f"{own['nmi']:.3f}", f"{own['ari']:.3f}", f"{own['peak_bytes'] / 1e6:.0f}", ""),
    ]
    times = {}
    for name, runs in theirs.items():
        if "failed" in runs[-1]:
            text.append(row(name, runs[-1]["failed"], "", "", "", "", ""))
            continue
        its = fastest(runs)
        times[name] = its["seconds"]
        ratio = own["seconds"] / its["seconds"]
        reasons = ["time"] * (ratio > 0.5) + [key.upper() for key in ("nmi", "ari") if own[key] < its[key] - 0.005]
        missed = f"{MISSED}: {', '.join(reasons)}" if reasons else ""
        scores = (f"{its['nmi']:.3f}", f"{its['ari']:.3f}", f"{its['peak_bytes'] / 1e6:.0f}")
        text.append(row(name, f"{its['seconds']:.1f}", f"{ratio:.2f}", *scores, missed))
    if times:
        name = min(times, key=times.get)
        text += ["", f"The fastest peer is {name}: taugraph takes {own['seconds'] / times[name]:.2f} of its time."]
    return [*text, "", machine("numpy", "scipy", "scikit-learn", "pyamg", "graphlearning", "annoy", "numba", "pynndescent") + "."]
