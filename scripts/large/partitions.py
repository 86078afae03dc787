"""The chain on partitions, in processes of this machine, beside one process: time, bytes of the stages, memory, and how far the clusters differ."""

import json
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import hard_sets
from performance_page import DATA, QUICK, machine
from large.tools import MILLION, MOST, cluster_file, mark

# Rows and partitions. More rows than a million only if MOST says so.
RUNS = [(2_000, 2)] if QUICK else [(100_000, 8), (100_000, 32), (MILLION, 8), (MILLION, 32), (4 * MILLION, 8), (4 * MILLION, 32)]
SETS = os.environ.get("SETS", "").split() or ["mixture-16", "spirals-2"]
# Of the time of one process, with 8 partitions of a million rows; and how far bytes may be from rows times halo.
GOAL, BYTES = 1.5, 0.05
STAGES = ("answers", "half_pools", "micro", "refined", "labels")


def stored_as_parquet(name, n):
    path, truth = hard_sets.stored(name, n)
    folder = DATA / f"{name}-{n}-parquet"
    if not folder.exists():
        points = np.load(path, mmap_mode="r")
        folder.mkdir()
        for number, first in enumerate(range(0, n, 250_000)):
            rows = points[first : first + 250_000]
            table = pa.table({f"x{column}": np.ascontiguousarray(rows[:, column]) for column in range(rows.shape[1])})
            pq.write_table(table, folder / f"part-{number:03}.parquet", row_group_size=50_000)
    return path, folder, truth


def on_partitions(folder, n_clusters, n_parts, flags):
    """The report of a run, its labels, seconds and the records of its tasks."""
    output = DATA / "partitions"
    shutil.rmtree(output, ignore_errors=True)
    command = [sys.executable, "-m", "taugraph.distributed", "cluster", str(folder), str(output), "--quiet", "--json"]
    command += ["--clusters", str(n_clusters), "--partitions", str(n_parts), "--threads", "1", *flags]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:200]}
    tables = [pq.read_table(path) for path in sorted((output / "labels").iterdir())]
    records = {}
    for path in (output / "work" / "records").rglob("*.json"):
        records[str(path.relative_to(output / "work" / "records"))[:-5]] = json.loads(path.read_text())
    labels = np.concatenate([table["cluster"].to_numpy() for table in tables])
    shutil.rmtree(output)
    return {"report": json.loads(done.stdout), "labels": labels, "seconds": seconds, "records": records}


def summed(records, stage, field):
    return sum(record.get(field, 0) for key, record in records.items() if key.startswith(f"{stage}/"))


def moved_as_expected(found, n_columns):
    """Bytes of what is lent between partitions, and what rows times halo come to."""
    nodes, halo = found["report"]["graph"]["nodes"], found["report"]["graph"]["halo"]
    expected = nodes * 16 + halo * (8 + 8 * n_columns) + halo * 8
    return summed(found["records"], "lent", "bytes_written"), expected


def partitions():
    """The section of the page."""
    lines = [
        "`python -m taugraph.distributed cluster` through `Local` (two workers of one thread) on Parquet files, beside `taugraph cluster` in one process on the same rows, on sets that nothing was tuned",
        "for. *Halo*: rows of other partitions for each own row. *Lent*: bytes of coordinates and scales between partitions, over rows × halo. *Agree*: adjusted Rand index of both answers. Once each.",
        f"Goals: with 8 partitions of a million rows at most {GOAL} of the time of one process; bytes within {BYTES:.0%} of rows × halo.",
        "",
        "| points | partitions | s | one process s | ratio | core µs a row | halo | lent MB | lent : expected | largest task MB | method, steps | NMI | its NMI | agree | goal |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    shares = []
    for name in SETS:
        for n, n_parts in RUNS:
            if n > MOST:
                continue
            path, folder, truth = stored_as_parquet(name, n)
            k = hard_sets.n_clusters(name, n)
            one = cluster_file(path, k, *hard_sets.flags(name))
            found = on_partitions(folder, k, n_parts, [])
            if "failed" in found or "failed" in one:
                lines.append(f"| {name} {n:,} | {n_parts} | {found.get('failed') or one.get('failed')} |" + " |" * 12)
                continue
            records, report = found["records"], found["report"]
            cpu = sum(record.get("cpu_seconds", 0) for record in records.values())
            moved, expected = moved_as_expected(found, len(report["columns"]))
            ratio = found["seconds"] / one["seconds"]
            steps = report["clusters"].get("eigenpairs", {}).get("steps", "")
            reached = (ratio <= GOAL or (n, n_parts) != (MILLION, 8)) and (abs(moved / expected - 1) <= BYTES or QUICK)
            peak = max(record.get("peak_bytes", 0) for record in records.values())
            lines.append(
                f"| {name} {n:,} | {n_parts} | {found['seconds']:.1f} | {one['seconds']:.1f} | {ratio:.2f} | {cpu / n * 1e6:.0f} | {report['graph']['halo'] / n:.2f} | {moved / 1e6:.0f} "
                f"| {moved / expected:.3f} | {peak / 1e6:.0f} | {report['clusters']['method']}, {steps} | {normalized_mutual_info_score(truth, found['labels']):.3f} "
                f"| {normalized_mutual_info_score(truth, one['labels']):.3f} | {adjusted_rand_score(one['labels'], found['labels']):.4f} | {mark(reached)} |"
            )
            names = dict.fromkeys(key.partition("/")[0] for key in records)
            share = ", ".join(f"{stage} {summed(records, stage, 'cpu_seconds') / n * 1e6:.1f}" for stage in names if summed(records, stage, "cpu_seconds") / n > 1e-6)
            shares.append(f"| {name} {n:,} | {n_parts} | {share} |")
            print(lines[-1], flush=True)
    lines += ["", "Core microseconds a row of the stages that are tasks, of at least one (residents of eigenpairs and k-means are no tasks):", "", "| points | partitions | stages |", "|---|---|---|", *shares]
    return [*lines, "", machine("numpy", "pyarrow") + "."]
