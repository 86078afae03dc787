"""Before the work: how it is cut, what it takes, and whether the machines and the storage have that. Nothing is written here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from .. import _core
from .._config import config as config_of
from .._config import whole
from ..exceptions import ParameterError
from ._errors import InputError, InsufficientResourcesError, StorageFullError, counted, readable_bytes
from ._estimate import HALO, HALO_PARTS, PROBES, Estimate, Stage
from ._executor import Node
from ._local import Local
from ._output import work_of
from ._plan import PLAN, Plan
from ._progress import Listener, Progress, progress_of
from ._ray import Ray
from ._schedule import describe
from ._source import open_source
from ._storage import Storage
from ._tasks import records_of

# Ways to cluster that are there on partitions, where not all are.
_POSSIBLE: dict[str, tuple[object, ...]] = {
    "cluster.count": ("boundaries",),
    "cluster.components": ("link",),
    "cluster.laplacian": ("symmetric",),
    "cluster.stability": (0,),
    "cluster.outliers": ("none",),
}
# Rows of a partition at the least: with fewer, most of what it needs belongs to others.
FEWEST_ROWS = 4096
# Rows read at a time at the most: a few seconds of work.
MOST_ROWS = 2**20
# Left free in the storage.
SPARE = 1.1


@dataclass(frozen=True)
class Prospect:
    """A run that can begin: how it is cut, what it takes, and where."""

    plan: Plan
    estimate: Estimate
    nodes: tuple[Node, ...]
    threads: int
    # Whether an earlier run with the same storage was cut in the same way, and goes on.
    resumes: bool
    free: int | None
    # Bytes that the earlier run has written.
    kept: int


def plan(
    data: str,
    output: str | None = None,
    *,
    executor: Local | Ray | None = None,
    n_clusters: int | None = None,
    columns: Sequence[str] | None = None,
    partitions: int | None = None,
    preset: str = "robust",
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    graph: bool = False,
    progress: Progress | Listener | bool | str | None = None,
) -> dict[str, Any]:
    """What a run of :func:`cluster` with these arguments would take; nothing is computed or written.

    Parameters
    ----------
    data : str
        A folder, a pattern or a file of Parquet, on a disk or as ``s3://…``.
    output : str, default=None
        Where results would be written: its free space is compared with what is needed.
    executor : Local or Ray, default=None
        The machines; ``None``: this one.
    partitions : int, default=None
        Parts into which the rows are divided; ``None``: as many as the machines and their memory ask for.
    n_clusters, columns, preset, params, seed, graph, progress
        As for ``cluster``.

    Returns
    -------
    dict
        ``rows``, ``columns``, ``bytes``, ``partitions``, ``chunks``, ``stages`` (name, tasks, memory of the largest, bytes read,
        written and moved, seconds), ``memory``, ``written``, ``moved``, ``seconds``, ``storage``, ``machines``, ``assumptions``.

    Raises
    ------
    InsufficientResourcesError, StorageFullError
        If it cannot fit, with numbers.
    InputError, ParameterError
        If the table or a parameter is one that cannot be distributed.
    """
    prospect = look_ahead(data, output, executor=executor, n_clusters=n_clusters, columns=columns, partitions=partitions,
                          preset=preset, params=params, seed=seed, graph=graph, progress=progress)  # fmt: skip
    return described(prospect, partitions is None)


def look_ahead(
    data: str,
    output: str | None = None,
    *,
    executor: Local | Ray | None = None,
    n_clusters: int | None = None,
    columns: Sequence[str] | None = None,
    partitions: int | None = None,
    preset: str = "robust",
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    graph: bool = False,
    progress: Progress | Listener | bool | str | None = None,
) -> Prospect:
    """How a run is cut, checked against the machines and the storage; an error with numbers if it cannot fit."""
    told = progress_of(progress)
    if n_clusters is not None:
        whole("n_clusters", n_clusters, 1)
    refuse_unsupported(config_of(preset, {}, params))
    storage = None if output is None else work_of(output)
    source = open_source(str(data), list(columns) if columns is not None else None)
    told.note(f"{counted(len(source.files), 'file')}, {source.n_rows} rows, {counted(source.width, 'column')}")
    made = Plan(source, preset, dict(params or {}), whole("seed", seed), 1, _core.block_rows())
    if source.n_rows <= made.k:
        raise InputError(f"{data}: {counted(source.n_rows, 'row')}, and each needs {made.k} others: use the program for few rows")
    if source.n_rows >= 2**32:
        raise InputError(f"{data}: {source.n_rows} rows; nodes are named by numbers below 4,294,967,296")
    if partitions is not None and whole("partitions", partitions, 1) > source.n_rows:
        raise ParameterError(f"partitions = {partitions}: there are {counted(source.n_rows, 'row')}")
    machines = Local() if executor is None else executor
    nodes, threads = tuple(machines.nodes()), machines.threads
    earlier = _earlier(storage, made, partitions)
    cut = earlier or _cut(made, partitions, nodes, threads, graph)
    free = storage.free_bytes() if storage else None
    kept = sum(record.get("bytes_written", 0) for record in records_of(storage).values()) if storage and earlier else 0
    prospect = Prospect(cut, Estimate.of(cut, graph), nodes, threads, earlier is not None, free, kept)
    _refuse_what_does_not_fit(prospect, storage)
    return prospect


def refuse_unsupported(config: _core.Config) -> None:
    """A sentence for each choice that needs more than one machine's rows at a time."""
    found = [config.get(path) for path in ("graph.estimator", "graph.candidates", "metric", "preparation.pca", "preparation.standardize", "graph.first_scale")]
    kinds = [each["kind"] if isinstance(each, dict) else each for each in found]
    estimator, candidates, metric, pca, standardize, first = kinds
    if estimator != "neighborhood":
        raise ParameterError(f"graph.estimator = {estimator}: only neighborhood can be distributed, whose counts are made at either end of an edge")
    if candidates != "neighbors":
        raise ParameterError(f"graph.candidates = {candidates}: only neighbors can be distributed; all pairs are for few rows")
    if metric == "manhattan":
        raise ParameterError("metric = manhattan: points are divided into cells by Euclidean distance; use euclidean or cosine")
    if pca is not None:
        raise ParameterError("preparation.pca: principal components of many machines' rows are not available; reduce the columns first")
    if standardize == "robust":
        raise ParameterError("preparation.standardize = robust: medians of columns are not available; use zscore, minmax, max-abs or none")
    if first == "given":
        raise ParameterError("graph.first_scale = given: scales cannot be given for rows in files; use kth-neighbor or mean-of-neighbors")
    for path, values in _POSSIBLE.items():
        value = config.get(path)
        if value not in values:
            raise ParameterError(f"{path} = {value}: on partitions it must be {' or '.join(map(str, values))}")


def _earlier(storage: Storage | None, made: Plan, partitions: int | None) -> Plan | None:
    """The plan of an earlier run with the same input and parameters: how it was cut stays, or nothing of it could be used.

    The machines may be others now.
    """
    if storage is None:
        return None
    try:
        found = Plan.from_json(storage.read_json(PLAN))
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError, AttributeError):
        return None
    same = replace(found, n_parts=made.n_parts, chunk_rows=made.chunk_rows) == made
    return found if same and partitions in (None, found.n_parts) else None


def _cut(made: Plan, partitions: int | None, nodes: Sequence[Node], threads: int, graph: bool) -> Plan:
    """Chunks and partitions: as many as tasks can run at a time, and more if their tasks were too large otherwise."""
    slots = max(1, sum(int(node.cpus // threads) for node in nodes))
    # What a task has if all run at a time.
    share = min((int(node.memory * threads / node.cpus) for node in nodes if node.cpus >= threads), default=0)
    rows, block = made.source.n_rows, _core.block_rows()
    cut = replace(made, n_parts=partitions or 1, chunk_rows=_rounded(min(MOST_ROWS, max(made.source.group_rows, rows // slots)), block))
    while _largest(cut, graph, by_chunks=True) > share and cut.chunk_rows > block:
        cut = replace(cut, chunk_rows=_rounded(cut.chunk_rows // 2, block))
    if partitions is not None:
        return cut
    most = max(1, rows // FEWEST_ROWS)
    counts = [min(most, slots)]
    while counts[-1] < most:
        counts.append(min(most, counts[-1] + max(1, counts[-1] // 4)))
    cuts = [replace(cut, n_parts=count) for count in counts]
    fitting = (each for each in cuts if _misfit(Estimate.of(each, graph), nodes) is None)
    first = next(fitting, None)
    if first is None:
        # What is refused then is all residents together, unless already a task is too large.
        available = max((node.memory for node in nodes), default=0)
        return next((each for each in cuts if _largest(each, graph, by_chunks=False) <= available), cuts[0])
    # All workers at a time if possible; larger tasks, which wait for each other, if not.
    return next((each for each in (first, *fitting) if _largest(each, graph, by_chunks=False) <= share), first)


def _rounded(rows: int, block: int) -> int:
    return -(-max(rows, 1) // block) * block


_BY_CHUNKS = ("moments", "sample", "assigned", "scattered", "labels")
# One task, however the rows are cut.
_SINGLE = ("cells", "coarse")


def _largest(cut: Plan, graph: bool, by_chunks: bool) -> int:
    """Bytes of the largest task among those of chunks, or among those of partitions."""
    stages = Estimate.of(cut, graph).stages.values()
    return max(each.memory for each in stages if each.name not in _SINGLE and (each.name in _BY_CHUNKS) == by_chunks)


def _refuse_what_does_not_fit(prospect: Prospect, storage: Storage | None) -> None:
    cut, estimate = prospect.plan, prospect.estimate
    usable = [node for node in prospect.nodes if node.cpus >= prospect.threads]
    found = _misfit(estimate, usable)
    if found is not None:
        needed, offered, stage = found
        raise InsufficientResourcesError(needed, offered, 0, _advice(cut, estimate, usable, stage))
    left = int(SPARE * estimate.written) - prospect.kept
    if prospect.free is not None and storage is not None and left > prospect.free:
        raise StorageFullError(storage.uri, "everything that the run writes", left, prospect.free, "Use another output, or fewer columns")


def _misfit(estimate: Estimate, nodes: Sequence[Node]) -> tuple[str, str, Stage] | None:
    """What finds no room on these machines: what is needed, what is there, and the stage."""
    available = max((node.memory for node in nodes), default=0)
    worst = max(estimate.stages.values(), key=lambda stage: stage.memory)
    if worst.memory > available:
        needed = f"the largest task of {worst.name} needs {readable_bytes(worst.memory)} with {counted(estimate.parts, 'partition')}"
        return needed, describe(nodes), worst
    unplaced = _unplaced(estimate.residents, [node.memory for node in nodes])
    if unplaced:
        needed = f"the {counted(len(estimate.residents), 'resident')} of eigenpairs need {readable_bytes(sum(estimate.residents))} together"
        offered = f"{describe(nodes)}, {readable_bytes(sum(node.memory for node in nodes))} in all, without room for {unplaced} of them"
        return needed, offered, estimate.stages["eigen"]
    return None


def _advice(cut: Plan, estimate: Estimate, nodes: Sequence[Node], stage: Stage) -> str:
    """What would help: the number of partitions with which everything fits, if there is one."""
    if stage.name in _BY_CHUNKS:
        return "Write the files with smaller row groups, use fewer columns, or larger machines"
    most = max(1, cut.source.n_rows // FEWEST_ROWS)
    # More first, for what is too large is usually a task; fewer if there are too many residents.
    for factor in () if stage.name in _SINGLE else (1.25, 1.5, 2, 3, 4, 6, 8, 16, 32, 64, 128, 0.75, 0.5, 0.25):
        parts = max(1, min(most, int(estimate.parts * factor)))
        if parts != estimate.parts and _misfit(Estimate.of(replace(cut, n_parts=parts), estimate.with_graph), nodes) is None:
            return f"Use partitions={parts}, fewer columns, or more and larger machines"
    return "Another number of partitions does not help: use more and larger machines, or fewer columns"


def _unplaced(needs: Iterable[int], memory: Iterable[int]) -> int:
    """How many residents find no room, the largest first, each where most is free."""
    free, unplaced = sorted(memory), 0
    for need in sorted(needs, reverse=True):
        if free and free[-1] >= need:
            free[-1] -= need
            free.sort()
        else:
            unplaced += 1
    return unplaced


def described(prospect: Prospect, was_chosen: bool) -> dict[str, Any]:
    """A prospect as numbers and sentences."""
    estimate, source = prospect.estimate, prospect.plan.source
    stages = []
    for stage in estimate.stages.values():
        seconds = estimate.seconds(stage, prospect.nodes, prospect.threads)
        stages.append({**asdict(stage), "seconds": seconds})
    residents = estimate.residents
    return {
        "rows": source.n_rows,
        "columns": source.width,
        "bytes": source.n_rows * source.width * (4 if source.is_single else 8),
        "files": len(source.files),
        "partitions": prospect.plan.n_parts,
        "partitions_were_chosen": was_chosen,
        "chunks": prospect.plan.n_chunks,
        "resumes": prospect.resumes,
        "stages": stages,
        "memory": {
            "largest_task": max(stage["memory"] for stage in stages if not stage["is_resident"]),
            "residents": sum(residents),
            "n_residents": len(residents),
            "driver": estimate.driver,
        },
        "written": estimate.written,
        "moved": estimate.moved,
        "cpu_seconds": sum(stage["cpu_seconds"] for stage in stages),
        "seconds": sum(stage["seconds"] for stage in stages),
        "storage": {"needed": max(0, estimate.written - prospect.kept), "free": prospect.free},
        "machines": [asdict(node) for node in prospect.nodes],
        "assumptions": _assumptions(estimate),
    }


def _assumptions(estimate: Estimate) -> list[str]:
    found = []
    if estimate.parts > 1:
        found.append(
            f"each row of a partition needs {estimate.halo:.2f} of others: {HALO} was measured on images of 50 columns at {HALO_PARTS} partitions, "
            "groups in few columns need .1 to 1.3"
        )
    if not estimate.is_exact:
        found.append(f"a node probes {estimate.probes} of {estimate.cells} cells: 7 to {PROBES} were measured, shapeless rows in many columns probe more")
    found.append("seconds are those of one machine of two cores, times the numbers here; a storage that serves each task with 200 MB/s")
    return found
