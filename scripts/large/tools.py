"""What the sections share: running the program and the peers, ratios and goals."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

from performance_page import DATA, MISSED, ROOT

TAUGRAPH = ROOT / "target" / "release" / "taugraph"
SCRIPTS = pathlib.Path(__file__).parent.parent
TWO_THREADS = ["env", *(f"{name}_NUM_THREADS=2" for name in ("RAYON", "OMP", "OPENBLAS", "NUMBA"))]
PATIENCE = 1200
MILLION = 1_000_000
# Larger sets are left out of the sections that have many: `make bench-large SECTIONS="hard columns" MOST=100000`.
MOST = int(os.environ.get("MOST") or MILLION)


def mark(reached):
    return "" if reached else MISSED


def missed(*reasons):
    """The goals that were missed, of pairs of a text and whether it was reached."""
    texts = [text for text, reached in reasons if not reached]
    return f"{MISSED}: {', '.join(texts)}" if texts else ""


def peer(*words, patience=PATIENCE):
    """What a peer printed last, or why it failed: {"failed": …}. If its time is over, what it had found by then counts."""
    command = [*TWO_THREADS, sys.executable, SCRIPTS / "large_peers.py", *map(str, words)]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=patience)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired as error:
        printed = (error.stdout or b"").decode().splitlines()
        over = {"failed": f"over {patience // 60} minutes"}
        return json.loads(printed[-1]) | {"rest": over} if printed else over
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return {"failed": f"failed: {error.stderr.strip().splitlines()[-1][:100] if error.stderr.strip() else error}"}


def fastest(runs):
    """The shortest run; one that failed, if there is any."""
    failed = [found for found in runs if "failed" in found]
    return failed[0] if failed else min(runs, key=lambda found: found["seconds"])


def cluster_file(path, clusters, *more, program=TAUGRAPH):
    """The command from a file to labels: exit code, seconds, processor time, peak memory, labels, JSON. Without a number of clusters it is found."""
    labels, report = DATA / "labels.npy", DATA / "out.json"
    labels.unlink(missing_ok=True)
    asked = [] if clusters is None else ["--clusters", str(clusters)]
    command = [program, "cluster", path, *asked, "-o", labels, "--json", report, "--quiet", *more]
    out = subprocess.run([sys.executable, "-S", SCRIPTS / "measured.py", *command], check=True, capture_output=True, text=True)
    found = json.loads(out.stdout)
    if found["code"] != 0:
        return found | {"failed": f"exit code {found['code']}: {' '.join(out.stderr.split())[-200:]}"}
    return found | {"labels": np.load(labels).ravel(), "report": json.loads(report.read_text())}


def efficiency(found):
    """Parallel efficiency of a whole process."""
    return found["cpu_seconds"] / (found["seconds"] * len(os.sched_getaffinity(0)))


def estimate_of(report):
    """What taugraph reported that it needs, and what it may use if available, in MB."""
    memory = report["memory"]
    return f"{memory['needed_bytes'] / 1e6:.0f}–{memory['estimated_bytes'] / 1e6:.0f}"


def search_of(report):
    """Recall of the search for neighbors, and how it was done."""
    search = report.get("graph", {}).get("search", {})
    used = search.get("used", "")
    if isinstance(used, dict):
        used = ", ".join(f"{name} = {number:,}" for settings in used.values() for name, number in settings.items())
    return search.get("recall", np.nan), used


def exponent(sizes, times, least=0):
    """Slope of the line through the logarithms, for sizes of at least this."""
    chosen = [(n, t) for n, t in zip(sizes, times) if n >= least]
    return np.polyfit(*np.log(np.transpose(chosen)), 1)[0] if len(chosen) > 1 else np.nan


def available_bytes():
    """Memory that is free or can be freed."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable")))
