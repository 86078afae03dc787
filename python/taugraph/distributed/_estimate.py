"""What a run takes before it begins: tasks, memory, bytes and seconds of every stage.

The sizes follow from rows, columns and partitions. What is known only later is assumed, and said: how many rows of others a
partition needs (its halo), how many cells a node probes. Memory is a bound, which the records of real runs have to stay below;
it is what the tasks reserve. Seconds are a projection from measured rates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ._neighbors import MANY
from ._neighbors import SAMPLE as QUERIES
from ._rows import CELL, SAMPLE

if TYPE_CHECKING:
    from ._executor import Node
    from ._plan import Plan

# The interpreter with NumPy, pyarrow and the library, and what allocators keep of earlier tasks: 140 to 185 MB were measured.
BASE = 256 * 10**6
# Records, indices and pages that are not full: what a task with hardly any rows takes.
LEAST = 8 * 2**20
# Rows of other partitions for each own row: measured on images of 50 columns at 32 partitions. Groups in few columns have .1 to 1.3.
HALO, HALO_PARTS = 1.6, 32
# It grew with this power of the number of partitions (8, 32, 128).
HALO_GROWTH = 0.45
# The partition with the largest halo, beside the mean.
WORST_HALO = 2.3
# Cells that a node probes for a recall of .98: 7 to 22 were measured.
PROBES = 24
# Partitions that a node asks besides its own, for each row of halo: 3.05 beside 1.67.
COPIES = 1.8
# The largest partition, beside the mean: cells are divided, not rows.
LARGEST, CELLS_MORE = 1.25, 4 * CELL
# Eigenpairs until the next one is confirmed, and the steps they take; bytes of a resident for each node; vectors of a checkpoint.
PAIRS, STEPS, RESIDENT, CHECKPOINT = 20, 25, 2460, 770
# The coarse problem has a node for so many.
COARSE = 25
# What each task reads and writes in a second, and what each file and each task take besides.
BYTES_PER_SECOND, SECONDS_PER_FILE, SECONDS_PER_TASK = 200e6, 0.004, 0.005
# Microseconds of a core for a row and a center, for each column.
CENTER = 5.6e-5
# A round of calls of all residents.
ROUND = 0.1


@dataclass(frozen=True)
class Stage:
    """What a stage takes."""

    name: str
    tasks: int
    # Bytes of the largest task, the interpreter included.
    memory: int
    # Bytes of all tasks: read, written, and written by one partition for another.
    read: int
    written: int
    moved: int
    # Of all tasks together.
    files: int
    cpu_seconds: float
    # Residents are all there at the same time.
    is_resident: bool = False
    rounds: int = 0
    is_built: bool = True


@dataclass(frozen=True)
class Estimate:
    """Sizes of a run, from which everything else follows."""

    rows: int
    # Numbers in a row, bytes of each as it is stored and as it is read.
    columns: int
    cell_bytes: int
    raw_bytes: int
    chunk_rows: int
    # Rows of the largest row group of the files.
    group_rows: int
    parts: int
    # Neighbors that are searched, those that become edges, those whose edges are counted.
    k: int
    candidates: int
    pool: int
    is_exact: bool
    with_graph: bool = False
    # Known later: rows of others that the partition with most of them needs; cells that a node probes.
    halo_rows: int | None = None
    n_probe: int | None = None

    @classmethod
    def of(cls, plan: Plan, with_graph: bool = False) -> Estimate:
        """The sizes of a run by its plan."""
        source, config = plan.source, plan.config
        precision = config.get("preparation.precision")
        is_single = source.is_single if precision is None else precision == "single"
        graph = config.get("graph")
        method = graph["search"]["method"]
        return cls(
            rows=source.n_rows,
            columns=source.width,
            cell_bytes=4 if is_single else 8,
            raw_bytes=4 if source.is_single else 8,
            chunk_rows=min(plan.chunk_rows, source.n_rows),
            group_rows=source.group_rows,
            parts=plan.n_parts,
            k=plan.k,
            candidates=int(graph["candidates"]["k"]),
            pool=int(graph["estimator"]["pool"]),
            is_exact=method == "exact" or (method == "auto" and source.n_rows < MANY),
            with_graph=with_graph,
        )

    def knowing(self, halo_rows: int | None = None, n_probe: int | None = None) -> Estimate:
        """The same with what has turned out since."""
        return replace(
            self,
            halo_rows=self.halo_rows if halo_rows is None else halo_rows,
            n_probe=self.n_probe if n_probe is None else n_probe,
        )

    @property
    def chunks(self) -> int:
        return -(-self.rows // self.chunk_rows)

    @property
    def cells(self) -> int:
        return max(1, self.rows // CELL)

    @property
    def probes(self) -> int:
        """Cells that a node probes."""
        if self.n_probe is not None:
            return self.n_probe
        return self.cells if self.is_exact else min(self.cells, PROBES)

    @property
    def largest(self) -> int:
        """Nodes of the largest partition."""
        return min(self.rows, int(LARGEST * self.rows / self.parts) + CELLS_MORE)

    @property
    def halo(self) -> float:
        """Rows of other partitions for each own row, on average."""
        assumed = HALO * math.pow(self.parts / HALO_PARTS, HALO_GROWTH)
        return min(self.parts - 1.0, assumed)

    @property
    def worst_halo(self) -> int:
        """Rows of other partitions that one of them needs."""
        if self.halo_rows is not None:
            return self.halo_rows
        return min(self.rows - self.rows // self.parts, int(WORST_HALO * self.halo * self.largest))

    @property
    def copies(self) -> float:
        """Partitions that a node asks besides its own, on average."""
        return min(self.parts - 1.0, self.probes - 1.0, (self.parts - 1.0) if self.is_exact else COPIES * self.halo)

    @cached_property
    def stages(self) -> dict[str, Stage]:
        """Every stage by its name, in order."""
        return {stage.name: stage for stage in self._stages()}

    def memory(self, stage: str) -> int:
        """Bytes to reserve for a task of this stage, or of a part of it, such as ``lent/first``."""
        name = self.stage_of(stage)
        if name is None:
            raise KeyError(stage)
        return self.stages[name].memory

    def stage_of(self, key: str) -> str | None:
        """The stage that a task with this key belongs to."""
        return next((name for name in self.stages if key == name or key.startswith(f"{name}/")), None)

    def _stages(self) -> Iterable[Stage]:
        yield from self._rows()
        yield from self._neighbors()
        yield from self._edges()
        yield from self._clusters()

    def _stage(
        self, name: str, tasks: int, data: float, read: float, written: float, moved: float, cost: float, files: int = 2, **more: bool | int
    ) -> Stage:
        """``cost``: microseconds of a core for each row of the table. ``files``: what each task reads and writes."""
        cpu = self.rows * cost / 1e6
        return Stage(name, tasks, BASE + LEAST + int(data), int(read), int(written), int(moved), files * tasks, cpu, **more)  # type: ignore[arg-type]

    def _rows(self) -> Iterable[Stage]:
        N, P, C, c, n, d = self.rows, self.parts, self.chunks, self.chunk_rows, self.largest, self.columns
        stored, raw = self.columns * self.cell_bytes, self.columns * self.raw_bytes
        # Whole row groups: as they are in the file, and decoded; then the rows of the chunk, column by column and row by row.
        covered = min(N, (-(-c // self.group_rows) + 1) * self.group_rows)
        reading = 3 * covered * raw + 3 * c * raw + 32 * 2**20
        sample = min(N, SAMPLE * self.cells)
        files, ready = N * raw, c * (raw + 3 * stored)
        yield self._stage("moments", C, reading, files, -(-N // 65536) * d * 48, 0, 0.3 + 0.02 * d)
        yield self._stage("sample", C, max(reading, ready) + 8 * N, files, sample * stored, 0, 0.1 + 0.03 * d)
        # Centers of centers first, then the centers around each.
        training = 0.2 + 8 * sample / N * math.sqrt(self.cells) * d * CENTER
        yield self._stage("cells", 1, sample * (3 * stored + 8 * d), sample * stored, self.cells * d * 4, 0, training, C + 1)
        found = c * (2 * stored + 8 * d + 24) + self.cells * (8 * d + 8)
        yield self._stage("assigned", C, max(reading, ready, found), files, N * (stored + 4) + C * self.cells * 8, 0, 0.1 + (0.03 + self.cells * CENTER) * d)
        yield self._stage("scattered", C, c * (3 * stored + 48), N * (stored + 4), N * (stored + 8), N * (stored + 8), 0.2 + 0.02 * d, P + 2)
        # Sorted as bytes, to find rows that are equal.
        yield self._stage("points", P, n * (7 * stored + 64), N * (stored + 8), N * (stored + 16), 0, 0.2 + 0.04 * d, C + 2)

    def _neighbors(self) -> Iterable[Stage]:
        N, P, n, d, K, p = self.rows, self.parts, self.largest, self.columns, self.k, self.probes
        stored, queries = self.columns * self.cell_bytes, min(N, 2 * QUERIES)
        points, asked = n * (stored + 8), (1 + self.copies) * N
        # The points of a partition, in single precision and as they are in panels.
        searched = 2 * points + n * (8 * d + 48)
        if not self.is_exact and self.n_probe is None and self.cells > 1:
            # Each partition has about its share of the queries.
            drawn = min(queries, 4 * queries / P + 64) * self.cells * 24
            yield self._stage("drawn", P, points + 40 * n + drawn, N * (stored + 8), queries * (stored + 4 * self.cells), 0, 0.5, 5)
            here = queries * (self.cells / P * 16 + K * 48 + 3 * stored)
            yield self._stage("exact", P, searched + here, P * queries * stored + N * stored, P * queries * K * 16, 0, 1.8 + 0.02 * d, P + 3)
        probing = n * p * 24 + n * (2 * stored + 8 * d + 64)
        crossing = self.copies * N * (stored + 16) + N * p * 4
        yield self._stage("asked", P, points + probing, N * (stored + 8), asked * (stored + 16) + N * p * 4, crossing, 1 + (0.06 + self.cells * CENTER) * d, P + 4)
        answering = searched + n * (2 * stored + 8 * d + 40 * K + 4 * p + 64)
        read, written = N * (stored + 8) + asked * (stored + 16), asked * (12 * K + 4)
        searching = 5.7 + p * CELL * (0.0017 + 2e-5 * d)
        yield self._stage("answers", P, answering, read, written, self.copies * N * (12 * K + 4), searching, 2 * P + 3)
        merging = n * K * 120
        written = N * K * 12 + N * self.candidates * 16
        yield self._stage("neighbors", P, merging, asked * (12 * K + 4), written, self._cross * N * self.candidates * 16, 1 + 1.3 * (1 + self.copies), 2 * P + 2)

    @property
    def _cross(self) -> float:
        """The share of edges between two partitions: .25 was measured where the halo was 1.67."""
        return min(1.0, 0.15 * self.halo)

    def _edges(self) -> Iterable[Stage]:
        N, P, n, d, K = self.rows, self.parts, self.largest, self.columns, self.k
        stored, H, h, cross = self.columns * self.cell_bytes, self.worst_halo, self.halo, self._cross
        # Edges at a node: both ends choose, so that they are candidates to twice as many.
        mean, most = 1.6 * self.candidates, 2.2 * self.candidates
        yield self._stage("edges", P, n * (K * 12 + most * 60) + 16 * H, N * (K * 12 + mean * 16), N * (16 + mean * 12) + h * N * 4, h * N * 4, 5, 2 * P + 5)
        yield self._stage("histograms", 8 * P, n * 16 + 16 * 2**20, 8 * N * 8, P * 20 * 2**19, 0, 1)
        sent = 2 * h * N * 8 + h * N * stored
        yield self._stage("lent", 2 * P, n * (2 * stored + 40) + H * (2 * stored + 24), N * (stored + 24), 2 * N * 8 + sent, sent, 1.1, 2 * P + 4)
        both = n + H
        pooled = both * (3 * stored + 8 * d + 48) + n * (K * 12 + most * 60)
        read = (1 + h) * N * (stored + 12) + N * (12 * K + mean * 12)
        yield self._stage("half_pools", P, pooled, read, N * mean * 24, cross * N * mean * 16, 3 + 0.33 * d, 3 * P + 6)
        yield self._stage("persistence", P, n * most * 75, N * mean * 40, N * mean * 8, 0, 4, P + 4)
        yield self._stage("robust", P, n * (most * 30 + 40), N * mean * 28, N * (mean * 8 + 8), 0, 1, 6)
        yield self._stage("graph", P, n * (most * 60 + 40) + 40 * H, N * mean * 44, N * (12 + mean * 36), 0, 5.5, 2 * P + 6)

    def _clusters(self) -> Iterable[Stage]:
        """What follows the graph; sizes and rates are those of prototypes."""
        N, P, n = self.rows, self.parts, self.largest
        stored, mean, most, h = self.columns * self.cell_bytes, 1.6 * self.candidates, 2.2 * self.candidates, self.halo
        graph, vectors = N * (12 + mean * 36), 8 * PAIRS

        def stage(name: str, tasks: int, data: float, read: float, written: float, moved: float, cost: float, **more: bool | int) -> Stage:
            return self._stage(name, tasks, data, read, written, moved, cost, is_built=False, **more)

        yield stage("components", P, n * most * 60, graph, N * 8, self._cross * N * mean * 8, 2)
        yield stage("links", 2 * P, n * (3 * stored + 8 * self.columns), 2 * N * stored, P * 2**20, P * 2**20, 10)
        yield stage("agglomeration", P, n * most * 80, graph, N * 16, N * 8, 10)
        moved = STEPS * h * N * vectors * 3
        yield stage("eigenpairs", P, n * RESIDENT, graph, 2 * N * CHECKPOINT, moved, 170, is_resident=True, rounds=8 * STEPS)
        coarse = N / COARSE * (RESIDENT + 2 * vectors)
        yield stage("coarse", 1, coarse, 0, 0, 0, 3, is_resident=True)
        yield stage("k-means", P, n * vectors * 3, N * vectors, N * 4, 0, 6)
        yield stage("labels", self.chunks, self.chunk_rows * 40, N * 12, N * 8, N * 4, 0.5)
        if self.with_graph:
            yield stage("graph files", P, n * most * 150, graph, N * mean * 20, 0, 3)

    @property
    def residents(self) -> list[int]:
        """Bytes of each resident, all there at the same time."""
        return [stage.memory for stage in self.stages.values() if stage.is_resident for _ in range(stage.tasks)]

    @property
    def driver(self) -> int:
        """Bytes of the process that gives the orders: numbers and owners of all nodes, and the rows of one partition."""
        calibration = 0 if self.is_exact else 2 * QUERIES * self.cells * 16
        return BASE + 14 * self.rows + max(calibration, self.largest * (self.columns * self.cell_bytes + 16))

    @property
    def written(self) -> int:
        """Bytes of everything in the storage when the run ends."""
        return sum(stage.written for stage in self.stages.values())

    @property
    def moved(self) -> int:
        return sum(stage.moved for stage in self.stages.values())

    def seconds(self, stage: Stage, nodes: Iterable[Node], threads: int) -> float:
        """A projection: tasks in turns, each as fast as it computes and as its bytes travel."""
        at_once = 0
        for node in nodes:
            by_memory = node.memory // max(1, stage.memory)
            at_once += min(int(node.cpus // threads), by_memory)
        at_once = min(max(1, at_once), stage.tasks)
        turns = math.ceil(stage.tasks / at_once)
        travelling = (stage.read + stage.written + stage.moved * stage.is_resident) / BYTES_PER_SECOND + SECONDS_PER_FILE * stage.files
        of_task = (stage.cpu_seconds / threads + travelling) / stage.tasks + SECONDS_PER_TASK
        return turns * of_task + ROUND * stage.rounds
