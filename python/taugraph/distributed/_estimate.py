"""What a run takes before it begins: tasks, memory, bytes and seconds of every stage.

The sizes follow from rows, columns and partitions. What is known only later is assumed, and said: how many rows of others a
partition needs (its halo), how many cells a node probes. Memory is a bound, which the records of real runs have to stay below;
it is what the tasks reserve. Seconds are a projection from measured rates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from .. import _core
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
    # Whether the number of tasks is known before the work: rounds depend on the data.
    is_certain: bool = True


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
    # Nodes that search for other components.
    searching: int = 0

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

    def knowing(self, halo_rows: int | None = None, n_probe: int | None = None, searching: int = 0) -> Estimate:
        """The same with what has turned out since."""
        return replace(
            self,
            halo_rows=self.halo_rows if halo_rows is None else halo_rows,
            n_probe=self.n_probe if n_probe is None else n_probe,
            searching=searching,
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
        self,
        name: str,
        tasks: int,
        *,
        memory: float,
        read: float,
        written: float,
        cost: float,
        moved: float = 0,
        files: int = 2,
        is_resident: bool = False,
        rounds: int = 0,
        is_certain: bool = True,
    ) -> Stage:
        """``memory``: of the rows of the largest task. ``cost``: microseconds of a core for each row of the table. ``files``: of each task."""
        reserved, cpu_seconds = BASE + LEAST + int(memory), self.rows * cost / 1e6
        counts = int(read), int(written), int(moved), files * tasks
        return Stage(name, tasks, reserved, *counts, cpu_seconds, is_resident, rounds, is_certain)

    def _rows(self) -> Iterable[Stage]:
        """N rows of d columns in C chunks of c rows, then in P partitions, the largest with n."""
        N, P, C, c, n, d = self.rows, self.parts, self.chunks, self.chunk_rows, self.largest, self.columns
        stored, raw, table = d * self.cell_bytes, d * self.raw_bytes, self.rows * d * self.raw_bytes
        # Whole row groups: as they are in the file, and decoded; then the rows of the chunk, column by column and row by row.
        covered = min(N, (-(-c // self.group_rows) + 1) * self.group_rows)
        reading = 3 * covered * raw + 3 * c * raw + 32 * 2**20
        yield self._stage("moments", C, memory=reading, read=table, written=-(-N // 65536) * d * 48, cost=0.3 + 0.02 * d)
        sample, preparing = min(N, SAMPLE * self.cells), c * (raw + 3 * stored)
        memory = max(reading, preparing) + 8 * N
        yield self._stage("sample", C, memory=memory, read=table, written=sample * stored, cost=0.1 + 0.03 * d)
        # Centers of centers first, then the centers around each.
        cost = 0.2 + 8 * sample / N * math.sqrt(self.cells) * d * CENTER
        memory = sample * (3 * stored + 8 * d)
        yield self._stage("cells", 1, memory=memory, read=sample * stored, written=self.cells * d * 4, cost=cost, files=C + 1)
        # Every center is looked at.
        memory = max(reading, preparing, c * (2 * stored + 8 * d + 24) + self.cells * (8 * d + 8))
        written, cost = N * (stored + 4) + C * self.cells * 8, 0.1 + (0.03 + self.cells * CENTER) * d
        yield self._stage("assigned", C, memory=memory, read=table, written=written, cost=cost)
        crossing = N * (stored + 8)
        memory, cost = c * (3 * stored + 48), 0.2 + 0.02 * d
        yield self._stage("scattered", C, memory=memory, read=crossing, written=crossing, moved=crossing, cost=cost, files=P + 2)
        # Sorted as bytes, to find rows that are equal.
        memory, cost = n * (7 * stored + 64), 0.2 + 0.04 * d
        yield self._stage("points", P, memory=memory, read=crossing, written=N * (stored + 16), cost=cost, files=C + 2)

    def _neighbors(self) -> Iterable[Stage]:
        """K neighbors of each of N nodes, which probes p cells."""
        N, P, n, d, K, p = self.rows, self.parts, self.largest, self.columns, self.k, self.probes
        stored, queries = d * self.cell_bytes, min(N, 2 * QUERIES)
        points, points_read = n * (stored + 8), N * (stored + 8)
        # The points of a partition, and in single precision, in the order of their cells.
        searching = 2 * points + n * (8 * d + 48)
        if not self.is_exact and self.n_probe is None and self.cells > 1:
            # Each partition has about its share of the queries.
            memory = points + 40 * n + min(queries, 4 * queries / P + 64) * self.cells * 24
            yield self._stage("drawn", P, memory=memory, read=points_read, written=queries * (stored + 4 * self.cells), cost=0.5, files=5)
            memory = searching + queries * (self.cells / P * 16 + K * 48 + 3 * stored)
            read, written = P * queries * stored + points_read, P * queries * K * 16
            yield self._stage("exact", P, memory=memory, read=read, written=written, cost=1.8 + 0.02 * d, files=P + 3)
        # A query goes to its own partition, and to those that own other cells that it probes.
        answer, sent = 12 * K + 4, (1 + self.copies) * N
        asked, moved = sent * (stored + 16) + N * p * 4, self.copies * N * (stored + 16) + N * p * 4
        memory, cost = points + n * (24 * p + 2 * stored + 8 * d + 64), 1 + (0.06 + self.cells * CENTER) * d
        yield self._stage("asked", P, memory=memory, read=points_read, written=asked, moved=moved, cost=cost, files=P + 4)
        memory, cost = searching + n * (2 * stored + 8 * d + 40 * K + 4 * p + 64), 5.7 + p * CELL * (0.0017 + 2e-5 * d)
        moved = self.copies * N * answer
        yield self._stage("answers", P, memory=memory, read=points_read + asked, written=sent * answer, moved=moved, cost=cost, files=2 * P + 3)
        written, moved = N * (12 * K + 16 * self.candidates), self._cross * N * self.candidates * 16
        cost = 1 + 1.3 * (1 + self.copies)
        yield self._stage("neighbors", P, memory=n * K * 120, read=sent * answer, written=written, moved=moved, cost=cost, files=2 * P + 2)

    @property
    def _cross(self) -> float:
        """The share of edges between two partitions: .25 was measured where the halo was 1.67."""
        return min(1.0, 0.15 * self.halo)

    @property
    def _degree(self) -> tuple[float, float]:
        """Edges at a node, on average and in the partition with most of them: both ends choose, so there are more than candidates."""
        return 1.6 * self.candidates, 2.2 * self.candidates

    def _edges(self) -> Iterable[Stage]:
        """h rows of others for each own row, H in the partition with most of them."""
        N, P, n, d, K, h, H = self.rows, self.parts, self.largest, self.columns, self.k, self.halo, self.worst_halo
        stored, cross, (mean, most) = d * self.cell_bytes, self._cross, self._degree
        memory, moved = n * (12 * K + 60 * most) + 16 * H, h * N * 4
        read, written = N * (12 * K + 16 * mean), N * (16 + 12 * mean) + moved
        yield self._stage("edges", P, memory=memory, read=read, written=written, moved=moved, cost=5, files=2 * P + 5)
        # Four rounds for the first scales, and four for the robust ones.
        yield self._stage("histograms", 8 * P, memory=n * 16 + 16 * 2**20, read=8 * N * 8, written=P * 20 * 2**19, cost=1)
        memory, moved = n * (2 * stored + 40) + H * (2 * stored + 24), h * N * (stored + 16)
        yield self._stage("lent", 2 * P, memory=memory, read=N * (stored + 24), written=16 * N + moved, moved=moved, cost=1.1, files=2 * P + 4)
        memory = (n + H) * (3 * stored + 8 * d + 48) + n * (12 * K + 60 * most)
        read, moved = (1 + h) * N * (stored + 12) + N * (12 * K + 12 * mean), cross * N * mean * 16
        cost = 3 + 0.33 * d
        yield self._stage("half_pools", P, memory=memory, read=read, written=N * mean * 24, moved=moved, cost=cost, files=3 * P + 6)
        yield self._stage("persistence", P, memory=n * most * 75, read=N * mean * 40, written=N * mean * 8, cost=4, files=P + 4)
        yield self._stage("robust", P, memory=n * (40 + 30 * most), read=N * mean * 28, written=N * (8 + 8 * mean), cost=1, files=6)
        memory, written = n * (40 + 60 * most) + 40 * H, N * (12 + 36 * mean)
        yield self._stage("graph", P, memory=memory, read=N * mean * 44, written=written, cost=5.5, files=2 * P + 6)

    def _clusters(self) -> Iterable[Stage]:
        """Components, links, clusters and labels; links and moves take as many rounds as they need."""
        N, P, n, h, H = self.rows, self.parts, self.largest, self.halo, self.worst_halo
        stored, (mean, most) = self.columns * self.cell_bytes, self._degree
        edges, graph, linked, lent = n * most, N * (12 + 36 * mean), N * (12 + 12 * mean), h * N * 8
        memory: float
        written: float
        in_rounds = partial(self._stage, is_certain=False)
        moved = self._cross * N * mean * 4
        yield self._stage("components", P, memory=edges * 110, read=graph, written=8 * N + moved, moved=moved, cost=6, files=P + 4)
        yield self._stage("joining", P, memory=n * 32 + edges * 16, read=moved + 8 * N, written=P * 2**16, cost=0.5, files=P + 3)
        # Usually a round or two, in which small components search.
        memory, few = n * (4 * stored + 8 * self.columns + 96), N / 20
        yield in_rounds("members", P, memory=memory, read=N * stored, written=few * stored, moved=few * stored * P, cost=0.5, files=6)
        memory += self.searching * (4 * stored + 8 * self.columns + 64)
        yield in_rounds("outside", P, memory=memory, read=N * stored + P * few * stored, written=P * 2**12, cost=10, files=P + 6)
        memory, written = edges * 130 + 40 * H, linked + h * N * 4
        yield self._stage("linked", P, memory=memory, read=graph, written=written, moved=h * N * 4, cost=4, files=P + 5)
        memory = edges * 100 + 80 * (n + H)
        yield self._stage("micro", P, memory=memory + edges * 100, read=linked, written=24 * N + 2 * lent, moved=2 * lent, cost=15, files=3 * P + 6)
        smoothings = _core.smoothings()
        written, read = smoothings * (8 * N + lent), smoothings * (linked + lent)
        yield self._stage("levels", smoothings * P, memory=memory, read=read, written=written, moved=smoothings * lent, cost=8, files=2 * P + 4)
        yield self._stage("groups", P, memory=memory, read=linked + 2 * lent, written=N // 10, cost=5, files=2 * P + 6)
        # Two cuts, each in a few rounds.
        yield in_rounds("refined", 8 * P, memory=memory, read=8 * linked, written=8 * (4 * N + lent / 2), moved=4 * lent, cost=30, files=2 * P + 4)
        yield in_rounds("quality", 3 * P, memory=memory, read=2 * linked, written=P * 2**12, moved=P * 2**12, cost=8, files=P + 4)
        vectors, in_residents = 8 * PAIRS, partial(self._stage, is_resident=True, is_certain=False)
        # Two checkpoints are there at a time.
        held, moved, rounds = 2 * N * CHECKPOINT, 3 * STEPS * h * N * vectors, 9 * STEPS
        yield in_rounds("agglomerated", P, memory=n * 16, read=4 * N, written=4 * N, cost=0.1, files=3)
        yield in_residents("eigen", P, memory=n * RESIDENT, read=linked, written=held, moved=moved, cost=170, rounds=rounds)
        yield in_residents("coarse", 1, memory=N / COARSE * (RESIDENT + 2 * vectors), read=0, written=0, cost=3)
        yield in_residents("spectral", P, memory=n * vectors * 3, read=N * vectors, written=4 * N, cost=6)
        yield in_rounds("by_eigenvectors", P, memory=n * 32, read=8 * N, written=8 * N, moved=4 * h * N, cost=0.2, files=P + 4)
        yield self._stage("first_nodes", P, memory=n * 24, read=8 * N, written=P * 2**10, cost=0.2, files=4)
        yield self._stage("labeled", P, memory=n * (stored + 64), read=N * (stored + 24), written=8 * N, moved=8 * N, cost=0.5, files=self.chunks + 5)
        yield self._stage("labels", self.chunks, memory=self.chunk_rows * 64 + 2**24, read=8 * N, written=6 * N, cost=0.5, files=P + 3)
        if self.with_graph:
            memory, written = edges * 200 + 4 * N, N * mean * 20
            yield self._stage("edge_files", P, memory=memory, read=graph + linked, written=written, cost=8, files=6)

    @property
    def residents(self) -> list[int]:
        """Bytes of each resident of the eigenpairs, all there at the same time; those of k-means come later, and are smaller."""
        return [self.stages[name].memory for name in ("eigen", "coarse") for _ in range(self.stages[name].tasks)]

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
