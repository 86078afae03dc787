"""The output of a run: its results, and a storage with everything in between below them."""

from __future__ import annotations

from ._errors import InputError
from ._plan import PLAN
from ._storage import Storage

WORK, LABELS, GRAPH, REPORT, SUCCESS = "work", "labels", "graph", "report.json", "_SUCCESS"
# In the order in which they are removed: what is cut off must not look complete.
RESULTS = (SUCCESS, REPORT, LABELS, GRAPH)


def inside(uri: str, name: str) -> str:
    """The address of what has this name in a folder or bucket. What follows a question mark belongs to a bucket, not to its path."""
    path, mark, options = uri.partition("?") if uri.startswith("s3://") else (uri, "", "")
    return f"{path.rstrip('/')}/{name}{mark}{options}"


def work_of(output: str) -> Storage:
    """The storage for everything that is not a result."""
    return Storage(inside(str(output), WORK))


def is_output(output: Storage) -> bool:
    """Whether this is the output of a run, finished or not, and not a folder with something else."""
    for name, keys in ((f"{WORK}/{PLAN}", {"source", "n_parts"}), (REPORT, {"rows", "version"})):
        try:
            found = output.read_json(name)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
            continue
        if isinstance(found, dict) and keys <= set(found):
            return True
    return False


def opened(output: str) -> Storage:
    """The storage of an output that is there; an error that says what is missing otherwise."""
    storage = Storage(str(output))
    if not is_output(storage):
        raise InputError(f"{output} is not the output of a run: it has neither {WORK}/{PLAN} nor {REPORT}")
    return storage
