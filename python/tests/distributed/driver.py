"""A driver to be killed: ``driver.py local|ADDRESS STORAGE FOLDER`` runs eight tasks and prints its events."""

from __future__ import annotations

import sys

from taugraph.distributed import Local, Ray
from taugraph.distributed._progress import JsonLines, Progress
from taugraph.distributed._storage import Storage
from taugraph.distributed._tasks import Task

if __name__ == "__main__":
    kind, uri, folder = sys.argv[1:]
    with Local(workers=2) if kind == "local" else Ray(kind) as executor:
        executor.attach(Storage(uri), "manifest", Progress(JsonLines(sys.stdout)))
        arguments = {"folder": folder, "seconds": 0.4}
        executor.run([Task(f"log/{number}", "toys:log", {**arguments, "number": number}) for number in range(8)])
