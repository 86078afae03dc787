"""Eigenpairs of a graph whose nodes are spread over partitions: a resident for each of them, one for their aggregates, and the
driver, which has the small matrices of the search.

A step of block Davidson is eight rounds: residuals of the best pairs, a cycle of multigrid in every partition, a correction on
the aggregates, a second cycle, what is new of it, and the images of that. Between the rounds go values at the nodes of the halo,
from resident to resident.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ._errors import DamagedShardError, ResidentLostError
from ._executor import BaseExecutor, Group, Ref
from ._plan import Plan
from ._tasks import Context

_STEPS_TO_CHECKPOINT = 5
CHECKPOINTS = "checkpoints/eigen"
# Bytes of a partition besides its vectors, for each byte of its edges: the levels of multigrid while they are built.
_FOR_EDGES = 8
# Vectors besides the basis and its images, in blocks.
_BLOCKS_BESIDE = 8


class Partition:
    """The own nodes of a partition. All rounds are methods of the solver in Rust."""

    def __init__(self, context: Context, part: int, n_parts: int, seed: int) -> None:
        self.context, self.part = context, part
        linked = context.read(f"linked/{part:05}")
        halo = [context.read(f"halo/{part:05}/{of:05}")["ids"] for of in range(n_parts)]
        wanted = [context.read(f"halo/{by:05}/{part:05}")["ids"] for by in range(n_parts)]
        self.ids = linked["ids"]
        edges = linked["offsets"], linked["targets"], linked["weights"]
        self.solver = _core.PartitionSolver(self.ids, edges, halo, wanted, seed)

    def __getattr__(self, method: str) -> Any:
        return getattr(self.solver, method)

    def about(self) -> tuple[int, list[int], float]:
        """The number of aggregates, the partitions whose values are needed, and the sum of the degrees."""
        return self.solver.n_aggregates(), self.solver.sources(), self.solver.volume()

    def guess_labels(self, n_groups: int) -> np.ndarray:
        """Candidates from another clustering."""
        return self.solver.guess_groups(self.context.read(f"agglomerated/{self.part:05}")["labels"], n_groups)

    def write(self, factors: np.ndarray, values: np.ndarray) -> dict[str, dict[str, Any]]:
        """Write the vectors that were measured."""
        arrays = {"ids": self.ids, "vectors": self.solver.vectors(factors), "values": values, "roots": self.solver.roots()}
        name = f"eigen/{self.part:05}"
        self.context.write(name, arrays)
        return {name: self.context.outputs[name]}

    def save(self, context: Context, slot: int) -> None:
        basis, images = self.solver.stored()
        context.write(f"{CHECKPOINTS}/{slot}/{self.part:05}", {"basis": basis, "images": images})

    def load(self, context: Context, slot: int, volume: float, room: int) -> None:
        stored = context.read(f"{CHECKPOINTS}/{slot}/{self.part:05}")
        self.solver.begin(volume, room)
        self.solver.restore(stored["basis"], stored["images"])


class Coarse:
    """The aggregates of all partitions."""

    def __init__(self, context: Context) -> None:
        self.solver: _core.CoarseSolver | None = None

    def connect(self, sizes: list[int], edges: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> int:
        """Build the graph of the aggregates; returns their number."""
        self.solver = _core.CoarseSolver(sizes, edges)
        return len(self.solver)

    def solve(self, right: list[np.ndarray]) -> list[np.ndarray]:
        assert self.solver is not None
        return self.solver.solve(right)

    def save(self, context: Context) -> None:
        """It is made anew from the partitions."""

    def rough_vectors(self, masses: list[np.ndarray], wanted: int, seed: int) -> list[np.ndarray]:
        assert self.solver is not None
        return self.solver.rough_vectors(masses, wanted, seed)


class _Kept(NamedTuple):
    """The search at a checkpoint, and which of the two stored sets of vectors belongs to it."""

    slot: int
    n_guesses: int
    numbers: np.ndarray
    values: np.ndarray

    @property
    def step(self) -> int:
        return int(self.numbers[3])


class Eigenpairs:
    """A search under way: the residents, and what is needed to go back to the last checkpoint.

    The checkpoints of an earlier run with the same fingerprint are this one's.
    """

    def __init__(self, executor: BaseExecutor, plan: Plan, fingerprint: str, n_nodes: int, n_pairs: int) -> None:
        self.plan, self.n_nodes, self.n_pairs, self.n_parts = plan, n_nodes, n_pairs, plan.n_parts
        self.progress = executor.job.progress
        self.fingerprint: np.ndarray = np.frombuffer(fingerprint.encode(), np.uint8)
        self.storage = storage = executor.job.storage
        self.has_guesses = all(storage.exists(f"agglomerated/{part:05}") for part in range(self.n_parts))
        sizes = [storage.size(f"linked/{part:05}") or 0 for part in range(self.n_parts)]
        arguments = [{"part": part, "n_parts": self.n_parts, "seed": plan.seed} for part in range(self.n_parts)]
        memory = _memory(sizes, n_nodes, n_pairs)
        self.parts: Group = executor.residents(f"{__name__}:Partition", arguments, memory)
        try:
            self.coarse: Group = executor.residents(f"{__name__}:Coarse", [{}], sum(memory) // 8)
        except BaseException:
            self.parts.close()
            raise
        self.sources: list[list[int]] = []
        self.volume, self.n_coarse = 0.0, 0
        self.kept = self._stored()
        self._unheard: list[Ref] = []

    def close(self) -> None:
        self.parts.close()
        self.coarse.close()

    def solve(self) -> dict[str, Any]:
        """Find the pairs and write the vectors. Lost residents are replaced; all go back to the last checkpoint."""
        while True:
            try:
                self._connect()
                return self._search()
            except ResidentLostError as error:
                self._unheard.clear()
                self.parts.restart_dead()
                self.coarse.restart_dead()
                step = self.kept.step if self.kept is not None else 0
                self.progress.note(f"eigenpairs: back to step {step}, for {error}")

    # Rounds.

    def _get(self, refs: Sequence[Ref]) -> list[Any]:
        """Results, after a look at those of calls that return nothing."""
        unheard, self._unheard = self._unheard, []
        return self.parts.get([*refs, *unheard])[: len(refs)]

    def _each(self, method: str, *arguments: Any) -> list[Ref]:
        return self.parts.call(method, [arguments] * self.n_parts)

    def _split(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[list[Ref]]:
        """Slices, one for every partition."""
        return self.parts.call_split(method, arguments, self.n_parts)

    def _exchanged(self, method: str, sent: list[list[Ref]], *more: Any) -> list[Ref]:
        """Call a method with what others have sent to each partition."""
        received = [[sent[of][to] for of in sources] for to, sources in enumerate(self.sources)]
        return self.parts.call(method, [(each, *more) for each in received])

    def _connect(self) -> None:
        """Number the aggregates, and build their graph."""
        about = self._get(self._each("about"))
        sizes, self.sources = [one[0] for one in about], [one[1] for one in about]
        # One after the other, in the order of the partitions.
        self.volume = sum(one[2] for one in about)
        firsts = [sum(sizes[:part]) for part in range(self.n_parts)]
        sent = self._split("aggregates", [(first,) for first in firsts])
        received = [[sent[of][to] for of in sources] for to, sources in enumerate(self.sources)]
        edges = self.parts.call("coarse_edges", list(zip(firsts, received)))
        (self.n_coarse,) = self.coarse.get(self.coarse.call("connect", [(sizes, edges)]))

    def _preconditioned(self, named: list[int] | None, rotation: np.ndarray | None = None) -> list[Ref]:
        """Precondition residuals or the candidates; they become the candidates, whose shares are returned.

        The basis may be replaced meanwhile.
        """
        sent = self._split("smooth_first", [(named,)] * self.n_parts)
        if rotation is not None:
            self._unheard += self._each("restart", rotation)
        right = self._exchanged("restrict", sent)
        (solved,) = self.coarse.call_split("solve", [(right,)], self.n_parts)
        sent = self._split("correct", [(ref,) for ref in solved])
        return self._exchanged("smooth_last", sent)

    def _widen(self, search: _core.EigenSearch, shares: list[Ref]) -> bool:
        """Add what is new of the candidates to the basis; false if nothing is."""
        while True:
            known = search.shares(self._get(shares))
            rotation, again = search.directions(self._get(self._each("subtract", known)))
            if again:
                shares = self._each("combine", rotation)
                continue
            if rotation.shape[1] == 0:
                return False
            sent = self._split("append", [(rotation,)] * self.n_parts)
            search.widen(self._get(self._exchanged("image", sent, rotation.shape[1])))
            return True

    def _widen_at_random(self, search: _core.EigenSearch, count: int, salt: int) -> None:
        known = search.shares(self._get(self._each("draw", count, salt)))
        self._unheard += self._each("subtract", known)
        self._widen(search, self._preconditioned(None))

    def _new_search(self, n_guesses: int) -> _core.EigenSearch:
        return _core.EigenSearch(self.n_nodes, self.n_pairs, n_guesses, self.plan.config, self.plan.seed)

    def _start(self) -> tuple[_core.EigenSearch, int]:
        """A search with a space of guesses and random vectors, and the number of guesses."""
        arguments = self._each("masses"), self.n_pairs - 1, self.plan.seed
        (rough,) = self.coarse.call_split("rough_vectors", [arguments], self.n_parts)
        n_rough = self.coarse.get(rough[:1])[0].shape[1]
        n_guesses = n_rough + (self.n_pairs if self.has_guesses else 0)
        search = self._new_search(n_guesses)
        self._unheard += self._each("begin", self.volume, search.room())
        if self.has_guesses:
            self._widen(search, self._each("guess_labels", self.n_pairs))
        if n_rough:
            self._widen(search, self.parts.call("guess_smooth", [(ref,) for ref in rough]))
        while missing := search.missing_at_start():
            self._widen_at_random(search, *missing)
        return search, n_guesses

    def _checkpoint(self, search: _core.EigenSearch, n_guesses: int) -> None:
        slot = 1 - self.kept.slot if self.kept is not None else 0
        # The vectors of the one before stay until this one is complete.
        self.parts.get(self._each("save", slot))
        self.coarse.get(self.coarse.call("save", [()]))
        numbers, values = search.state()
        about = np.array([slot, n_guesses], np.uint64)
        arrays: dict[str, np.ndarray] = {"about": about, "numbers": numbers, "values": values, "fingerprint": self.fingerprint}
        self.storage.write_shard(f"{CHECKPOINTS}/search", arrays, "eigen")
        self.kept = _Kept(slot, n_guesses, numbers, values)

    def _stored(self) -> _Kept | None:
        """The last checkpoint of a run like this that was interrupted."""
        try:
            stored = self.storage.read_shard(f"{CHECKPOINTS}/search")
        except DamagedShardError:
            return None
        if not np.array_equal(stored.get("fingerprint", []), self.fingerprint):
            return None
        slot, n_guesses = (int(number) for number in stored["about"])
        self.progress.note(f"eigenpairs: on from step {int(stored['numbers'][3])}")
        return _Kept(slot, n_guesses, stored["numbers"], stored["values"])

    def _search(self) -> dict[str, Any]:
        if self.kept is None:
            search, n_guesses = self._start()
            self._checkpoint(search, n_guesses)
        else:
            n_guesses = self.kept.n_guesses
            search = self._new_search(n_guesses).restored(self.kept.numbers, self.kept.values)
            self._unheard += self._each("load", self.kept.slot, self.volume, search.room())
        while True:
            look = search.look()
            if search.judge(self._get(self._each("residuals", *look))):
                return self._measure(search)
            self._step(search)
            if search.steps() % _STEPS_TO_CHECKPOINT == 0:
                self._checkpoint(search, n_guesses)
                self.progress.note(f"eigenpairs: step {search.steps()}, residual {search.worst():.1e}")

    def _step(self, search: _core.EigenSearch) -> None:
        named, rotation = search.improve()
        is_wider = False
        if named:
            is_wider = self._widen(search, self._preconditioned(named, rotation))
        elif rotation is not None:
            self._unheard += self._each("restart", rotation)
        if not is_wider:
            # All have converged or yield nothing new, and it is not enough.
            self._widen_at_random(search, *search.fresh())
        search.step()

    def _measure(self, search: _core.EigenSearch) -> dict[str, Any]:
        """Measure the pairs again, whatever the search says of them, and write them."""
        sent = self._split("finish", [(search.found(),)] * self.n_parts)
        values = search.quotients(self._get(self._exchanged("measure", sent)))
        values, residuals, confirmed, applications = search.conclude(self._get(self._each("measure_residuals", values)))
        factors = search.factors(self._get(self._each("largest", len(values))))
        outputs = self._get(self._each("write", factors, values))
        return {
            "values": values.tolist(),
            "residuals": residuals.tolist(),
            "confirmed": confirmed,
            "steps": search.steps(),
            "applications": applications,
            "n_coarse": self.n_coarse,
            "outputs": {name: about for each in outputs for name, about in each.items()},
        }


def _memory(sizes: Sequence[int], n_nodes: int, n_pairs: int) -> list[int]:
    """Bytes that the residents need, by the sizes of their shards."""
    block = n_pairs + 6
    of_node = 8 * (2 * 4 + _BLOCKS_BESIDE) * block
    return [int(_FOR_EDGES * size + of_node * n_nodes * size / max(1, sum(sizes))) for size in sizes]
