"""The executor for clusters: Ray's tasks and actors, as they are.

Ray repeats nothing by itself (``max_retries=0``): it would restart a task that ran out of memory for ever, and the schedule
counts. All errors of tasks come back as outcomes; what Ray raises is therefore about workers and machines.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..exceptions import ParameterError
from ._errors import DistributedError, InsufficientResourcesError, MissingDependencyError, counted, readable_bytes
from ._executor import BaseExecutor, Group, Node
from ._schedule import describe
from ._tasks import Order, Outcome, portable, run_task

# Tasks in Ray's hands for each processor: enough that no worker waits for the driver, few enough to end quickly.
_AHEAD = 2
_CANCEL_SECONDS = 5.0
_CONNECT_SECONDS = 10.0


def import_ray() -> Any:
    """Ray, which takes a second to import and is needed here only."""
    # Set before the import: otherwise errors of calls that nobody waits for any more, as after a loss, appear on the terminal.
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")
    try:
        import ray
    except ImportError as error:
        raise MissingDependencyError("this needs Ray: pip install taugraph[distributed]") from error
    return ray


class Ray(BaseExecutor):
    """A Ray cluster.

    Every node needs the same version of taugraph, and sees the storage under the same name.

    Parameters
    ----------
    address : str, default=None
        ``host:port`` of the head, or ``"auto"``; ``None``: as ``ray.init``, which looks for ``RAY_ADDRESS`` and a cluster of this
        machine, and otherwise starts one.
    threads : int, default=1
        Processors that each task reserves and uses.
    patience : float, default=300
        Seconds to wait for machines if there are too few for what is asked.
    """

    def __init__(self, address: str | None = None, threads: int = 1, patience: float = 300) -> None:
        super().__init__(patience)
        self.threads = threads
        self._ray = import_ray()
        if address is not None and address.startswith("ray://"):
            raise ParameterError("the driver has to run in the cluster's network: host:port, not ray://")
        self._is_mine = not self._ray.is_initialized()
        # Libraries for matrices would start threads of their own in every worker, and add up in another order.
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.runtime_env: dict[str, Any] | None = {"env_vars": {**one, "RAYON_NUM_THREADS": str(threads)}}
        if self._is_mine:
            _look_for(address)
            try:
                self._ray.init(address=address, log_to_driver=False, logging_level="warning", runtime_env=self.runtime_env)
            except ConnectionError as error:
                raise _nobody_at(address, first_line(error)) from error
            # All workers have it already.
            self.runtime_env = None
        self._started: dict[Any, int] = {}
        self._groups: list[Any] = []
        self._task = self._ray.remote(run_task)
        self._nodes: tuple[float, list[Node]] = (-1.0, [])

    def nodes(self) -> list[Node]:
        # Asked for before each start, and an answer takes milliseconds.
        asked, nodes = self._nodes
        if time.monotonic() - asked > 0.5:
            nodes = [_node(each) for each in self._ray.nodes() if each["Alive"] and each["Resources"].get("CPU", 0) > 0]
            self._nodes = time.monotonic(), nodes
        return nodes

    def on_every_node(self, function: Callable[..., Any], arguments: tuple[Any, ...] = ()) -> dict[str, Any]:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        remote, calls = self._ray.remote(function), {}
        for node in self._ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU", 0) > 0:
                place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                # No processor is reserved: the nodes may be busy with other jobs.
                name = _node(node).name
                options = remote.options(
                    num_cpus=0, max_retries=0, scheduling_strategy=place, name=f"check/{name}", runtime_env=self.runtime_env
                )
                calls[name] = options.remote(*arguments)
        if not calls:
            raise InsufficientResourcesError("at least one processor is needed", describe([]), 0)
        self._ray.wait(list(calls.values()), num_returns=len(calls), timeout=max(self.patience, 30))
        answers = {}
        for name, call in calls.items():
            try:
                answers[name] = self._ray.get(call, timeout=0)
            except self._ray.exceptions.RayTaskError as error:
                raise DistributedError(f"{name}: {error}") from error
            except self._ray.exceptions.GetTimeoutError as error:
                raise DistributedError(f"{name} does not answer") from error
            except self._ray.exceptions.RayError:
                # It died since it was listed, and will run nothing.
                continue
        return answers

    def _residents(self, factory: str, arguments: Sequence[dict[str, Any]], memory: Sequence[int]) -> Group:
        from ._ray_group import RayGroup

        cpus = sum(node.cpus for node in self.nodes())
        threads = max(1, int(cpus) // max(1, len(memory)))
        group = RayGroup(self, self.job, factory, arguments, memory, threads)
        self._groups.append(group)
        return group

    def close(self) -> None:
        self.stop()
        for group in self._groups:
            group.close()
        self._groups.clear()
        super().close()
        if self._is_mine and self._ray.is_initialized():
            self._ray.shutdown()

    # What the schedule uses.

    def room(self) -> int:
        slots = sum(int(node.cpus // self.threads) for node in self.nodes())
        return max(1, _AHEAD * slots) - len(self._started)

    def start(self, ticket: int, order: Order, memory: int) -> bool:
        options = self._task.options(
            name=order.task.key,
            num_cpus=self.threads,
            memory=memory or None,
            max_retries=0,
            runtime_env=self.runtime_env,
        )
        self._started[options.remote(order)] = ticket
        return True

    def ended(self, timeout: float) -> list[tuple[int, Outcome]]:
        if not self._started:
            time.sleep(0.01)
            return []
        refs = list(self._started)
        self._ray.wait(refs, num_returns=1, timeout=timeout)
        ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        return [(self._started.pop(ref), self._outcome(ref)) for ref in ready]

    def _outcome(self, ref: Any) -> Outcome:
        errors = self._ray.exceptions
        try:
            outcome: Outcome = self._ray.get(ref)
            return outcome
        except errors.OutOfMemoryError as error:
            return Outcome("memory", reason=first_line(error))
        except (errors.RayTaskError, errors.RuntimeEnvSetupError) as error:
            # Not of the task, whose errors are outcomes: the worker could not even begin.
            return Outcome("error", error=portable(error), reason=first_line(error), traceback=str(error))
        except errors.RayError as error:
            return Outcome("lost", reason=first_line(error))

    def stop(self) -> None:
        for ref in self._started:
            self._ray.cancel(ref, force=True)
        if self._started:
            self._ray.wait(list(self._started), num_returns=len(self._started), timeout=_CANCEL_SECONDS)
        self._started.clear()

    def check_residents(self, memory: Sequence[int], factory: str) -> str | None:
        """Why so many residents do not fit on the cluster; ``None`` if they do."""
        nodes = self.nodes()
        free = sorted((node.memory for node in nodes), reverse=True)
        for need in sorted(memory, reverse=True):
            # The emptiest machine first, as Ray spreads them.
            if not free or free[0] < need:
                total, largest = readable_bytes(sum(memory)), readable_bytes(max(memory))
                return f"{counted(len(memory), 'resident')} of {factory} need {total} together, the largest {largest}"
            free[0] -= need
            free.sort(reverse=True)
        return None


def _look_for(address: str | None) -> None:
    """An error if nothing answers there. Ray itself would ask again for many minutes."""
    host, sign, port = (address or "").rpartition(":")
    if not sign:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise _nobody_at(address, str(error)) from error


def _nobody_at(address: str | None, why: str) -> InsufficientResourcesError:
    return InsufficientResourcesError(f"a Ray cluster at {address} is needed", why, 0, "Is it running, and is the address right?")


def _node(described: dict[str, Any]) -> Node:
    resources = described["Resources"]
    name = f"{described.get('NodeManagerHostname') or described.get('NodeName')} ({described['NodeID'][:8]})"
    return Node(name, resources.get("CPU", 0), int(resources.get("memory", 0)))


def first_line(error: BaseException) -> str:
    """What an error of Ray says first; the rest is advice on where to find logs."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"
