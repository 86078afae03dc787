"""Time and memory compared with numpy, scipy, scikit-learn, pandas, pyarrow and graphlearning, in one run on the same data; writes
docs/PERFORMANCE.md.

    make bench                        everything
    make bench SECTIONS="labels"      only some sections; the others keep their last figures, if this folder has them

The images for the labels are those of the folder mnist/ in TAUGRAPH_DATA; without it that section is skipped.

Times are the shortest of several runs; the two sides alternate, so that a noisy machine affects both. Ratios below 1 mean
that taugraph is faster.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import warnings

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import eigsh
from sklearn.cluster import SpectralClustering
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

import performance_page
from mnist import pixels
from performance_page import DATA, ROOT

BENCH = ROOT / "target" / "release" / "examples" / "bench"
READ_TABLE = BENCH.with_name("read_table")
SIZES = (1000, 5000, 20_000, 50_000)


def lines_of(program, *words):
    """Runs an example and reads its `key value` lines."""
    out = subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True).stdout
    return dict(row.split(" ", 1) for row in out.splitlines())


def bench(*words):
    return lines_of(BENCH, *words)


def points(shape, n, seed=1):
    """Points that taugraph generated: path, values, labels."""
    path = DATA / f"{shape}-{n}.f64"
    bench("points", path, shape, n, seed)
    values = np.fromfile(path)
    n, d = int(values[0]), int(values[1])
    return path, values[2 : 2 + n * d].reshape(n, d), values[2 + n * d :].astype(int)


def seconds(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def row(*cells):
    text = "| " + " | ".join(str(cell) for cell in cells) + " |"
    print(text, flush=True)
    return text


def neighbors():
    path, values, _ = points("wide", 20_000)
    ours, peers = [], []
    for _ in range(8):
        found = bench("neighbors", path, 15, 1)
        ours.append(float(found["seconds"]))
        index = NearestNeighbors(n_neighbors=15, algorithm="brute", n_jobs=-1).fit(values)
        taken, (_, ids) = seconds(index.kneighbors)
        peers.append(taken)
        assert int(found["checksum"]) == ids.sum(), "different neighbors"
    ratio = min(ours) / min(peers)
    return [row("exact 15-NN, 20,000 × 50", "scikit-learn brute force", f"{min(ours):.2f}", f"{min(peers):.2f}", f"{ratio:.2f}", "0.4")]


def eigenpairs():
    rows = []
    for shape, goal in (("spirals", 0.6), ("mixture", 1.2)):
        path, _, _ = points(shape, 20_000)
        graph_path = DATA / f"{shape}-graph.f64"
        bench("graph", path, graph_path)
        raw = np.fromfile(graph_path)
        n, nnz = int(raw[0]), int(raw[1])
        graph = scipy.sparse.csr_matrix((raw[3 + n + nnz :], raw[3 + n : 3 + n + nnz].astype(int), raw[2 : 3 + n].astype(int)))
        half = scipy.sparse.diags(1 / np.sqrt(np.ravel(graph.sum(axis=1))))
        adjacency = (half @ graph @ half).tocsc()
        laplacian = (scipy.sparse.identity(n) - adjacency).tocsc()
        start = np.random.default_rng(0).normal(size=n)
        if shape == "spirals":
            name, peer = "scipy eigsh, shift-invert", lambda: eigsh(laplacian, 10, sigma=-1e-8, v0=start, tol=1e-8)[0]
        else:
            name, peer = "scipy eigsh", lambda: 1 - eigsh(adjacency.tocsr(), 10, which="LA", v0=start, tol=1e-8)[0]
        ours, peers = [], []
        for _ in range(3):
            found = bench("eigen", graph_path, 10, 1)
            ours.append(float(found["seconds"]))
            taken, values = seconds(peer)
            peers.append(taken)
        last, its_last = float(found["last"]), np.sort(values)[-1]
        assert last < its_last + 1e-6, f"a pair was missed: {last} above {its_last}"
        what = f"10 eigenpairs, {shape}, 20,000 nodes ({found['solver']}, residual {float(found['residual']):.0e})"
        if last < its_last - 1e-6:
            name += f" (misses pairs: its tenth eigenvalue is {its_last:.1e}, the true one {last:.1e})"
        rows.append(row(what, name, f"{min(ours):.3f}", f"{min(peers):.3f}", f"{min(ours) / min(peers):.2f}", goal))
    return rows


def numpy_epoch(n, rank, batch, epochs):
    """An epoch of the same auto-encoder (tied, sigmoid, biases, quantile Huber, Adam) in numpy, float64."""
    rng = np.random.default_rng(0)
    w = np.exp(-rng.random((n, n)) * 8)
    w = (w + w.T) / 2
    psi, b, c = rng.normal(size=(n, rank)) * 0.1, np.zeros(rank), np.full(n, -4.0)
    moments = [(np.zeros_like(p), np.zeros_like(p)) for p in (psi, b, c)]
    tau, kappa, rate, step = 0.3, 0.05, 0.01, 0

    def epoch():
        nonlocal step
        order = rng.permutation(n)
        for begin in range(0, n, batch):
            x = w[order[begin : begin + batch]]
            h = 1 / (1 + np.exp(-(x @ psi + b)))
            y = 1 / (1 + np.exp(-(h @ psi.T + c)))
            residual = x - y
            delta = -np.clip(residual / kappa, -tau, 1 - tau) / len(x) * y * (1 - y)
            hidden = (delta @ psi) * h * (1 - h)
            gradients = (x.T @ hidden + delta.T @ h + 1e-4 * psi, hidden.sum(0), delta.sum(0))
            step += 1
            for p, g, (m, v) in zip((psi, b, c), gradients, moments):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step) * m / (np.sqrt(v) + 1e-8)

    epoch()
    return min(seconds(epoch)[0] for _ in range(epochs))


def autoencoder():
    ours, peers = [], []
    for _ in range(3):
        ours.append(float(bench("autoencoder", 1000, 50, 100, 20)["seconds"]))
        peers.append(numpy_epoch(1000, 50, 100, 20))
    ratio = min(ours) / min(peers)
    return [row("auto-encoder epoch, N = 1000, P = 50, batch 100, float64", "numpy", f"{min(ours):.4f}", f"{min(peers):.4f}", f"{ratio:.2f}", "1.0")]


def reading():
    """A table of 1,000,000 × 20 numbers with all their digits, from the system's cache."""
    # Not at the top: the clustering peers are started from this file and should not load these.
    import pandas as pd
    import pyarrow as pa
    import pyarrow.csv

    path, rng = DATA / "table.csv", np.random.default_rng(0)
    table = pa.table({f"x{i + 1}": rng.normal(size=1_000_000) for i in range(20)})
    pa.csv.write_csv(table, path)
    peers = {
        'pandas, `engine="c"`': ("1.0", lambda: pd.read_csv(path, engine="c").to_numpy()),
        "pyarrow": ("", lambda: pa.csv.read_csv(path)),
    }
    ours, theirs = [], {name: [] for name in peers}
    for _ in range(5):
        found = lines_of(READ_TABLE, path)
        assert (found["rows"], found["columns"]) == ("1000000", "20")
        ours.append(float(found["seconds"]))
        for name, (_, peer) in peers.items():
            theirs[name].append(seconds(peer)[0])
    return [
        row("reading CSV, 1,000,000 × 20", name, f"{min(ours):.2f}", f"{min(times):.2f}", f"{min(ours) / min(times):.2f}", peers[name][0])
        for name, times in theirs.items()
    ]


def peer_clustering(path, clusters):
    """scikit-learn in a separate process, so that its peak memory is its own."""
    out = subprocess.run([sys.executable, __file__, "peer", path, str(clusters)], check=True, capture_output=True, text=True).stdout
    return [float(v) for v in out.split()]


def peak_bytes():
    """Peak memory of this process alone; getrusage would include that of its parent at the start."""
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def run_peer(path, clusters):
    raw = np.fromfile(path)
    n, d = int(raw[0]), int(raw[1])
    values, labels = raw[2 : 2 + n * d].reshape(n, d), raw[2 + n * d :].astype(int)
    warnings.simplefilter("ignore")
    model = SpectralClustering(clusters, affinity="nearest_neighbors", n_neighbors=10, n_jobs=-1, random_state=0)
    taken, found = seconds(lambda: model.fit_predict(StandardScaler().fit_transform(values)))
    print(taken, peak_bytes(), normalized_mutual_info_score(labels, found))


def clustering():
    rows, curves = [], []
    for shape, clusters in (("mixture", 10), ("spirals", 2)):
        times = []
        for n in SIZES:
            path, _, _ = points(shape, n)
            repeats = 3 if n < 20_000 else 1
            ours, peers = [], []
            for _ in range(repeats):
                ours.append(bench("cluster", path, "robust", clusters))
                peers.append(peer_clustering(path, clusters))
            own = min(float(found["seconds"]) for found in ours)
            peer = min(found[0] for found in peers)
            times.append(own)
            mib = 2**20
            rows.append(
                row(
                    f"{shape} {n:,}",
                    f"{own:.3f}",
                    f"{peer:.3f}",
                    f"{own / peer:.2f}",
                    f"{float(ours[0]['nmi']):.3f}",
                    f"{peers[0][2]:.3f}",
                    f"{float(ours[0]['peak_bytes']) / mib:.0f}",
                    f"{peers[0][1] / mib:.0f}",
                    f"{(float(ours[0]['before_bytes']) + float(ours[0]['estimated_bytes'])) / mib:.0f}",
                    ours[0]["solver"],
                )
            )
        exponent = np.polyfit(np.log(SIZES), np.log(times), 1)[0]
        curves.append(f"- {shape}: time grows as N^{exponent:.2f} from {SIZES[0]:,} to {SIZES[-1]:,} points.")
        print(curves[-1], flush=True)
    return rows, curves


def paper():
    rows, times, sizes = [], [], (500, 1000, 2000)
    for n in sizes:
        path, _, _ = points("spirals", n)
        found = bench("cluster", path, "paper", 2)
        times.append(float(found["seconds"]))
        rows.append(row(f"spirals {n:,}", f"{times[-1]:.1f}", f"{float(found['nmi']):.3f}", f"{float(found['peak_bytes']) / 2**20:.0f}"))
    exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    return rows, f"Time grows as N^{exponent:.2f}."


def save(path, values, labels):
    np.concatenate([values.shape, values.ravel(), labels]).astype(float).tofile(path)


def draws_of(labels, path, n_draws=20):
    """One row per class; one draw per line."""
    rng = np.random.default_rng(0)
    draws = [[rng.choice(np.flatnonzero(labels == c)) for c in np.unique(labels)] for _ in range(n_draws)]
    path.write_text("".join(" ".join(map(str, draw)) + "\n" for draw in draws))
    return draws


def own_labels(path, graph, rule, draws):
    out = subprocess.run([BENCH, "labels", path, graph, rule, draws], check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in out.splitlines()]
    found = {words[0]: float(words[1]) for words in lines if words[0] != "draw"}
    draws = np.array([[float(v) for v in words[1:]] for words in lines if words[0] == "draw"])
    return found, draws[:, 0], draws[:, 1]


def peer_labels(values, labels, draws):
    """graphlearning's Poisson learning with its own weights on exact 10-NN."""
    import graphlearning

    index = NearestNeighbors(n_neighbors=11, algorithm="brute", n_jobs=-1).fit(values)
    distances, ids = index.kneighbors(values)
    weights = graphlearning.weightmatrix.knn(values, 10, knn_data=(ids, distances))
    times, accuracies = [], []
    for draw in draws:
        model = graphlearning.ssl.poisson(weights)
        taken, found = seconds(lambda: model.fit_predict(np.array(draw), labels[draw]))
        times.append(taken)
        others = np.setdiff1d(np.arange(len(labels)), draw)
        accuracies.append(np.mean(found[others] == labels[others]))
    return np.array(times), np.array(accuracies)


def images_of_mnist():
    """The 70,000 images in 50 principal components, computed by taugraph: path, values, labels, seconds; None without them."""
    found = pixels()
    if found is None:
        return None
    images, classes = found
    raw, path = DATA / "mnist-raw.f64", DATA / "mnist.f64"
    save(raw, images, classes)
    rotation = bench("pca", raw, 50, path)
    raw.unlink()
    values = np.fromfile(path)[2 : 2 + 50 * len(classes)].reshape(-1, 50)
    return path, values, classes, float(rotation["seconds"])


def labels():
    mnist = images_of_mnist()
    if mnist is None:
        print("labels: skipped, TAUGRAPH_DATA names no folder with mnist/", flush=True)
        return ["Skipped: TAUGRAPH_DATA names no folder with mnist/."]
    path, values, classes, rotation = mnist
    # Classes in three groups, of which 100, 30 and 10 % of the images are kept.
    keep = np.random.default_rng(1).random(len(classes)) < np.array([1.0, 0.3, 0.1])[classes % 3]
    few = DATA / "mnist-imbalanced.f64"
    save(few, values[keep], classes[keep])
    text = [
        "MNIST images, 50 principal components computed by taugraph "
        f"({rotation:.1f} s for 70,000 × 784), one labeled point per class, 20 draws, the same for every row; "
        "accuracy in percent, mean ± standard deviation over the draws. No class sizes are given. `plain`: 15-NN, locally scaled; `robust`: "
        "the default; `robust + communities`: the product of `neighborhood` and `community`. graphlearning gets exact 10-NN and chooses its own "
        "weights; its tolerance is 1e-3, ours 1e-6. Goal: at least 94 % and at most 0.5 of its seconds per draw.",
        "",
        "| images | graph, rule | accuracy | lowest draw | s for a draw | ratio | graph s | once for a graph s | MiB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, file, points, truth in (("70,000", path, values, classes), (f"imbalanced, {keep.sum():,}", few, values[keep], classes[keep])):
        draws_path = DATA / "draws.txt"
        draws = draws_of(truth, draws_path)
        show = lambda accuracies: f"{100 * accuracies.mean():.1f} ± {100 * accuracies.std(ddof=1):.1f} | {100 * accuracies.min():.1f}"
        times, accuracies = peer_labels(points, truth, draws)
        peer = np.median(times)
        text.append(row(name, "graphlearning, Poisson", show(accuracies), f"{peer:.2f}", "", "", "", ""))
        for graph, rule in (("plain", "poisson"), ("plain", "harmonic"), ("robust", "poisson"), ("robust", "harmonic"), ("communities", "harmonic")):
            found, times, accuracies = own_labels(file, graph, rule, draws_path)
            label = "robust + communities" if graph == "communities" else graph
            cells = (f"{np.median(times):.2f}", f"{np.median(times) / peer:.2f}", f"{found['graph_seconds']:.1f}")
            text.append(row(name, f"{label}, {rule}", show(accuracies), *cells, f"{found['hierarchy_seconds']:.2f}", f"{found['peak_bytes'] / 2**20:.0f}"))
    return text


def single_stages():
    return [
        "| stage | peer | taugraph s | peer s | ratio | goal |",
        "|---|---|---|---|---|---|",
        *neighbors(),
        *eigenpairs(),
        *autoencoder(),
        *reading(),
    ]


def whole_clustering():
    rows, curves = clustering()
    return [
        "From raw points to labels, compared with `SpectralClustering(affinity=\"nearest_neighbors\", n_neighbors=10)`, which gets the same",
        "z-scored points and the true number of clusters, too. Goal: ratio at most 0.5. Memory is the peak of the process in MiB,",
        "the estimate is what taugraph reports before it starts, graph and clusters together (plus what the process used then);",
        "a factorization for shift-invert comes on top, but only if it fits into half of the memory.",
        "",
        "| points | taugraph s | scikit-learn s | ratio | NMI | its NMI | MiB | its MiB | estimate | solver |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *rows,
        "",
        *curves,
    ]


def networks(n=1000):
    """The nine networks of the preset `paper`, compared with the same in JAX and with the literal ones."""
    path = DATA / f"networks-{n}.f64"
    runs, peers = [], {"float64": [], "float32": []}
    for _ in range(3):
        runs.append(bench("networks", n, path))
        for precision, times in peers.items():
            command = [sys.executable, ROOT / "scripts" / "jax_networks.py", path, precision]
            times.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    least = lambda key: min(float(run[key]) for run in runs)
    ours = least("seconds")
    rows = [
        row(f"nine networks, N = {n:,}, all steps", f"JAX, {precision}", f"{ours:.2f}", f"{min(times):.2f}", f"{ours / min(times):.2f}", "1.0")
        for precision, times in peers.items()
    ]
    equal, literal = least("equal_loss_seconds"), least("literal_seconds")
    steps = runs[0]["equal_loss_steps"]
    what = f"own rows as targets, a common start and {steps} steps for each τ: at most the loss of the literal networks, summed over τ"
    rows.append(row(what, "`paper-literal`", f"{equal:.2f}", f"{literal:.2f}", f"{equal / literal:.2f}", "0.5"))
    return rows


def preset_paper():
    rows, curve = paper()
    return [
        "Nine auto-encoders on all pairs, with neighbor targets.",
        "",
        "| points | s | NMI | MiB |",
        "|---|---|---|---|",
        *rows,
        "",
        curve,
        "",
        "The training alone, compared with the same networks in JAX (compiled before the clock runs, one call for all steps), and with the training of 0.1.0.",
        "",
        "| training | peer | taugraph s | peer s | ratio | goal |",
        "|---|---|---|---|---|---|",
        *networks(),
    ]


def from_python():
    # Not at the top: other scripts use this one without the package.
    import bench_python

    return bench_python.section(points, bench, row)


def report():
    """What the browser test measures."""
    chromium = subprocess.run([ROOT / "scripts" / "chromium.sh"], check=True, capture_output=True, text=True).stdout.strip()
    if not chromium:
        print("report: skipped, there is no Chromium", flush=True)
        return None
    program = ROOT / "target" / "release" / "taugraph"
    environment = {**os.environ, "TAUGRAPH_CHROMIUM": chromium, "TAUGRAPH_PROGRAM": str(program), "TAUGRAPH_MEASURED": str(DATA)}
    command = [sys.executable, "-m", "pytest", "--quiet", "--rootdir=browser", "-k", "panning", "browser"]
    subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    found = json.loads((DATA / "panning.json").read_text())
    return [
        "Frames while the map of a clustering is dragged to and fro, in headless Chromium without a GPU, and the time until another quantile has been",
        "drawn. Goals: smooth (a screen shows a frame every 16.7 ms), a file of less than 6 MB.",
        "",
        "| points | edges drawn | file MB | frames | median ms | 95 % ms | worst ms | another quantile ms |",
        "|---|---|---|---|---|---|---|---|",
        row(*(f"{found[name]:,}" for name in ("points", "edges", "file_mb", "frames", "median_ms", "p95_ms", "worst_ms", "another_quantile_ms"))),
    ]


SECTIONS = {
    "stages": single_stages,
    "clustering": whole_clustering,
    "labels": labels,
    "python": from_python,
    "report": report,
    "paper": preset_paper,
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["peer"]:
        run_peer(sys.argv[2], int(sys.argv[3]))
    else:
        performance_page.measure(SECTIONS, sys.argv[1:])
