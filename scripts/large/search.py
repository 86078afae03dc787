"""Our own search for neighbors."""

import numpy as np

from bench import BENCH, lines_of
from large.neighbor_peers import K, recall
from large.tools import TWO_THREADS
from performance_page import DATA


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
