"""Runs that are killed and started again."""

import shutil
import signal
import subprocess

import numpy as np

from bench import points, row, seconds
from large.tools import TAUGRAPH
from performance_page import DATA, MISSED, QUICK, machine


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
