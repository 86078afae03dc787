"""Up to a million points: time and memory of the command line, neighbors and clusters compared with pynndescent, faiss, scikit-learn and
graphlearning, and interrupted runs; writes its sections of docs/PERFORMANCE.md.

    make bench-large                        everything
    make bench-large SECTIONS="growth"      only some of growth, neighbors, mnist, resume; the others keep their last figures
    make bench-large QUICK=1                tiny sizes, to try the script; the page goes to bench-data/quick/

The images are those of the folder mnist/ in TAUGRAPH_DATA. Without it, neighbors omits them and mnist is skipped.
"""

import json
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

import performance_page
from bench import BENCH, images_of_mnist, lines_of, points, row, save, seconds
from large_peers import K, METHODS, recall, truth
from performance_page import DATA, QUICK, ROOT, machine

TAUGRAPH = ROOT / "target" / "release" / "taugraph"
SCRIPTS = pathlib.Path(__file__).parent
TWO_THREADS = ["env", *(f"{name}_NUM_THREADS=2" for name in ("RAYON", "OMP", "OPENBLAS", "NUMBA"))]
PATIENCE = 1200
MISSED = "**missed**"
MIB = 2**20


def mark(reached):
    return "" if reached else MISSED


def peer(*words):
    """What a peer printed, or why it failed: {"failed": …}."""
    command = [*TWO_THREADS, sys.executable, SCRIPTS / "large_peers.py", *map(str, words)]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"failed": f"over {PATIENCE // 60} minutes"}
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return {"failed": f"failed: {error.stderr.strip().splitlines()[-1][:100] if error.stderr.strip() else error}"}


def fastest(runs):
    return min(runs, key=lambda found: found["seconds"])


# Growth


def cluster_file(path, clusters, *more):
    """The command from a file to labels: exit code, seconds, peak memory, labels, JSON."""
    labels, report = DATA / "labels.npy", DATA / "out.json"
    labels.unlink(missing_ok=True)
    command = [TAUGRAPH, "cluster", path, "--clusters", str(clusters), "-o", labels, "--json", report, "--quiet", *more]
    out = subprocess.run([sys.executable, "-S", SCRIPTS / "measured.py", *command], check=True, capture_output=True, text=True)
    found = json.loads(out.stdout)
    if found["code"] != 0:
        return found | {"failed": f"exit code {found['code']}: {out.stderr.strip()[-200:]}"}
    return found | {"labels": np.load(labels).ravel(), "report": json.loads(report.read_text())}


def estimate_of(report):
    """What taugraph reported that it needs, and what it may use if available, in MB."""
    memory = report["memory"]
    return f"{memory['estimated_bytes'] / 1e6:.0f}–{memory['max_bytes'] / 1e6:.0f}"


def exponent(sizes, times, least=0):
    """Slope of the line through the logarithms, for sizes of at least this."""
    chosen = [(n, t) for n, t in zip(sizes, times) if n >= least]
    return np.polyfit(*np.log(np.transpose(chosen)), 1)[0] if len(chosen) > 1 else np.nan


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
    search = found["report"].get("graph", {}).get("search", {})
    used = search.get("used", "")
    if isinstance(used, dict):
        used = ", ".join(f"{name} = {number:,}" for settings in used.values() for name, number in settings.items())
    reached = not is_largest or (found["seconds"] < 300 and found["peak_bytes"] < 3e9)
    return row(
        size,
        f"{found['seconds']:.2f}",
        f"{found['peak_bytes'] / 1e6:.0f}",
        estimate_of(found["report"]),
        f"{found['nmi']:.3f}",
        f"{search.get('recall', np.nan):.4f}",
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


# Neighbors


def own_search(path, sample, values, asked):
    """Our neighbors at this recall, and the recall they have on the sample."""
    out = DATA / "ids.f64"
    found = lines_of(*TWO_THREADS, BENCH, "search", path, K, min(max(asked, 0.5), 1.0), 1, out)
    ids = np.memmap(out, dtype=float, mode="r").reshape(-1, K)[sample["queries"]].astype(int)
    reached = recall(values, ids, sample["queries"], sample["radius"])
    return {"seconds": float(found["seconds"]), "recall": reached, "used": found["used"], "asked": asked}


def own_search_at(path, sample, values, least):
    """Raises the target until the recall on the sample matches the peer's, up to chance."""
    asked = least
    for _ in range(5):
        found = own_search(path, sample, values, asked)
        if found["recall"] >= least - 0.002:
            break
        asked += (1 - asked) / 2
    return found


def versus(name, size, path, sample_path, values, rounds, wanted=()):
    """A peer and ours at its recall, alternating: the row and our recall."""
    sample = np.load(sample_path)
    theirs, ours = [], []
    for _ in range(rounds):
        found = peer("neighbors", name, path, sample_path, *wanted)
        if "failed" in found:
            return row(size, name, "", found["failed"], "", "", "", "", ""), None
        theirs.append(found)
        ours.append(own_search(path, sample, values, ours[0]["asked"]) if ours else own_search_at(path, sample, values, found["recall"]))
    own, its = fastest(ours), fastest(theirs)
    ratio = own["seconds"] / its["seconds"]
    settings = f"{name} ({its['cells']} lists, n_probe {its['probes']})" if "probes" in its else name
    reached = ratio <= 0.5 and own["recall"] >= its["recall"] - 0.002
    cells = (f"{own['recall']:.4f}", f"{its['recall']:.4f}", f"{own['seconds']:.2f}", f"{its['seconds']:.2f}", f"{ratio:.2f}")
    return row(size, settings, own["used"], *cells, mark(reached)), own["recall"]


def searched_sets():
    """Name, path and rounds of every set."""
    sets = [("large", 3000)] if QUICK else (("large", 100_000), ("wide", 100_000), ("large", 1_000_000))
    for shape, n in sets:
        path, values, _ = points(shape, n)
        yield f"{shape} {n:,} × {values.shape[1]}", path, values, 1 if QUICK else 2 if n >= 1_000_000 else 3
    images = None if QUICK else images_of_mnist()
    if images:
        path, values, _, _ = images
        yield f"MNIST {len(values):,} × {values.shape[1]}", path, values, 3
    elif not QUICK:
        print("neighbors: without MNIST, TAUGRAPH_DATA names no folder with mnist/", flush=True)


def neighbors():
    text = [
        f"The {K} nearest neighbors of every point, two threads each: `bench search FILE {K} RECALL 1` compared with `NNDescent(n_neighbors={K + 1}, n_jobs=2)`",
        "(compiled beforehand) and faiss `IndexIVFFlat` with 4·√N inverted lists, trained on at most 256 points per list (training, adding and",
        "searching are timed, the choice of n_probe is not: the smallest that reaches the recall that ours had against pynndescent). Recall is measured on",
        "the same 1,000 points for all, by distance, without the point itself; ours is set to what the peer reached. The peers compute in",
        "single precision, taugraph in double. The runs alternate; the shortest of three, of two for a million points.",
        "Goal: ratio at most 0.5 at equal recall.",
        "",
        "| points | peer | search | recall | its recall | taugraph s | peer s | ratio | goal 0.5 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for size, path, values, rounds in searched_sets():
        sample_path = DATA / "truth.npz"
        truth(values, sample_path)
        line, reached = versus("pynndescent", size, path, sample_path, values, rounds)
        text.append(line)
        line, _ = versus("faiss", size, path, sample_path, values, rounds, [reached or 0.98])
        text.append(line)
    return [*text, "", machine("numpy", "numba", "pynndescent", "faiss-cpu") + "."]


# MNIST


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


# Resuming


def killed_after(command, moment):
    """Starts the command and kills it; False if it ended earlier."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(moment)
        return False
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()
        return True


def resume():
    known = subprocess.run([TAUGRAPH, "cluster", "--help"], check=True, capture_output=True, text=True).stdout
    if "--checkpoints" not in known:
        print("resume: skipped, this taugraph knows no --checkpoints", flush=True)
        return None
    n, n_kills = (5000, 3) if QUICK else (200_000, 10)
    path, values, _ = points("large", n)
    table, labels, folder = DATA / "resume.npy", DATA / "resume-labels.npy", DATA / "checkpoints"
    np.save(table, values)
    plain = [TAUGRAPH, "cluster", table, "--clusters", "20", "-o", labels, "--quiet"]
    command = [*plain, "--checkpoints", folder]

    def anew():
        labels.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)

    def finish(words):
        taken, _ = seconds(lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL))
        return taken, labels.read_bytes()

    anew()
    without, expected = finish(plain)
    anew()
    whole, kept = finish(command)
    rows, saved, same, rng = [], [], 0, np.random.default_rng(1)
    for _ in range(3 * n_kills):
        if len(saved) == n_kills:
            break
        anew()
        moment = rng.uniform(0, whole)
        if not killed_after(command, moment):
            continue
        taken, found = finish(command)
        saved.append(whole - taken)
        same += found == expected
        rows.append(row(f"{moment:.2f}", f"{taken:.2f}", f"{saved[-1]:.2f}", "yes" if found == expected else f"no {MISSED}"))
    anew()
    return [
        f"`taugraph cluster points.npy --clusters 20 -o labels.npy --checkpoints FOLDER` on {n:,} points (`large`), killed with `kill -9` at moments",
        "drawn uniformly over its duration, then started again with the same command. Goal: the same labels, byte for byte.",
        "",
        f"- The whole run takes {whole:.2f} s, without checkpoints {without:.2f} s; labels with and without are {'the same' if kept == expected else f'different {MISSED}'}.",
        f"- {same} of {len(saved)} resumed runs wrote the same file{'' if same == len(saved) == n_kills else f' {MISSED}'}.",
        f"- Resuming saved {np.mean(saved):.2f} s on average, {100 * np.mean(saved) / whole:.0f} % of a run from the start.",
        "",
        "| killed after s | resumed run s | saved s | same labels |",
        "|---|---|---|---|",
        *rows,
        "",
        machine("numpy") + ".",
    ]


SECTIONS = {"growth": growth, "neighbors": neighbors, "mnist": mnist, "resume": resume}


if __name__ == "__main__":
    performance_page.measure(SECTIONS, sys.argv[1:])
