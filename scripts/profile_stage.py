"""Where the time of one stage goes: `make profile STAGE=eigenpairs` writes bench-data/profile-eigenpairs.txt.

    make profile STAGE=neighbors                                on 100,000 points of the hard set mixture-16
    make profile STAGE=links SET=separate-topics-384 N=20000    another stage, on another set of scripts/hard_sets.py
    make profile STAGE=hierarchy TOOL=callgrind                 instructions instead of samples: slower, fewer points, the same on every run

A stage is what progress bars and JSON call it, or a short name of NAMES; `cluster` is the whole run and `labels` a whole propagation. The profiler
sees nothing but the stage: examples/bench switches it on when the stage begins and off when it ends.

Samples are taken by perf on all cores, if it is allowed to. Instructions are counted by valgrind's callgrind in one thread.
"""

import os
import subprocess
import sys

import numpy as np

import hard_sets
from performance_page import DATA, ROOT

# Separate from the release build: line tables for the names of inlined functions, frame pointers for the callers.
BUILD = ["cargo", "build", "--profile", "profiling", "--package", "taugraph", "--example", "bench"]
BENCH = ROOT / "target" / "profiling" / "examples" / "bench"
NAMES = {"links": "component links", "eigen": "eigenpairs", "quantiles": "neighborhood quantiles", "communities": "micro-communities"}
N_BY_TOOL = {"perf": 100_000, "callgrind": 5000}
ROWS = 40


def command(stage, name, n):
    """The command of examples/bench that has this stage."""
    found = hard_sets.stored(name, n)
    if found is None:
        sys.exit(f"{name} needs the folder mnist/ in TAUGRAPH_DATA")
    path, labels = found
    if stage in ("labels", "hierarchy", "propagate", "kernel"):
        draws = DATA / "profile-draws.txt"
        firsts = [np.flatnonzero(labels == label)[0] for label in np.unique(labels)]
        draws.write_text(" ".join(map(str, firsts)) + "\n")
        return [BENCH, "labels", path, "default", "harmonic", draws]
    flags = hard_sets.flags(name)
    metric = "cosine" if "cosine" in flags else "euclidean"
    return [BENCH, "cluster", path, "robust", str(hard_sets.n_clusters(name)), "none" if flags else "zscore", "auto", "0", metric]


def environment(stage, begin, end, threads):
    switches = {} if stage in ("cluster", "labels") else {"PROFILE_STAGE": stage, "PROFILE_BEGIN": begin, "PROFILE_END": end}
    return {**os.environ, **switches, **({"RAYON_NUM_THREADS": str(threads)} if threads else {})}


def run(words, **more):
    print("+", *words, flush=True)
    return subprocess.run([str(word) for word in words], check=True, text=True, **more)


def perf(stage, words, found):
    """Samples, exclusive and inclusive."""
    fifo = DATA / "profile.fifo"
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    is_whole = stage in ("cluster", "labels")
    switch = [] if is_whole else ["--delay", "-1", "--control", f"fifo:{fifo}"]
    record = ["perf", "record", "--event", "cpu-clock", "--freq", "499", "--call-graph", "fp", *switch, "--output", found, "--", *words]
    run(record, env=environment(stage, f"echo enable > {fifo}", f"echo disable > {fifo}", None))
    fifo.unlink()
    for title, flag in (("exclusive", "--no-children"), ("inclusive", "--children")):
        report = ["perf", "report", "--input", found, "--stdio", flag, "--call-graph", "none", "--no-inline", "--sort", "symbol", "--percent-limit", "0.3"]
        out = run(report, capture_output=True).stdout
        yield title, [line.rstrip(" -") for line in out.splitlines() if line.strip() and not line.startswith("#")]


def callgrind(stage, words, found):
    """Instructions, exclusive and inclusive."""
    is_whole = stage in ("cluster", "labels")
    record = ["valgrind", "--tool=callgrind", f"--instr-atstart={'yes' if is_whole else 'no'}", f"--callgrind-out-file={found}", *words]
    run(record, env=environment(stage, "callgrind_control --instr=on PID", "callgrind_control --instr=off PID", 1))
    for title, flag in (("exclusive", "no"), ("inclusive", "yes")):
        out = run(["callgrind_annotate", f"--inclusive={flag}", "--show-percs=yes", "--auto=no", "--threshold=100", found], capture_output=True).stdout
        yield title, [line for line in out.splitlines() if "%)" in line]


def perf_works():
    try:
        subprocess.run(["perf", "record", "--event", "cpu-clock", "--output", "/dev/null", "true"], check=True, capture_output=True)
        return True
    except (OSError, subprocess.CalledProcessError):
        return False


def main(stage="", name="mixture-16", n="", tool=""):
    if not stage:
        sys.exit(__doc__)
    stage = NAMES.get(stage, stage)
    tool = tool or ("perf" if perf_works() else "callgrind")
    n = int(n or N_BY_TOOL[tool])
    DATA.mkdir(parents=True, exist_ok=True)
    run(BUILD, cwd=ROOT, env={**os.environ, "RUSTFLAGS": "-C force-frame-pointers=yes"})
    raw, page = DATA / f"profile.{tool}", DATA / f"profile-{stage.replace(' ', '-')}.txt"
    raw.unlink(missing_ok=True)
    revision = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    what = "samples" if tool == "perf" else "instructions in one thread"
    text = [f"{stage} on {name}, {n:,} points, revision {revision}: {what}, by {tool}"]
    for title, lines in {"perf": perf, "callgrind": callgrind}[tool](stage, command(stage, name, n), raw):
        text += ["", title, "", *lines[:ROWS]]
        if not lines:
            text.append("nothing: the run has no such stage, or it was too short")
    page.write_text("\n".join(text) + "\n")
    print(*text[: ROWS // 2], f"… {page.relative_to(ROOT)}", sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
