"""Residents: state in processes, results between them, deaths."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import pytest

from taugraph.distributed import InsufficientResourcesError, Local, OutOfMemoryError, ResidentLostError, TaskFailedError
from taugraph.distributed._executor import BaseExecutor, Group
from taugraph.distributed._storage import Storage
from taugraph.distributed._tasks import Task


@pytest.fixture
def group(executor: BaseExecutor, storage: Storage) -> Group:
    executor.attach(storage)
    return executor.residents("toys:Counter", [{"start": start} for start in (1, 2)])


def add(group: Group, numbers: list[int]) -> list[Any]:
    return group.get(group.call("add", [(number,) for number in numbers]))


def test_calls_keep_the_state(group: Group) -> None:
    assert len(group) == 2
    assert add(group, [10, 20]) == [11, 22]
    calls = [group.call("add", [(1,)] * 2) for _ in range(5)]
    assert group.get(calls[-1]) == [16, 27]
    assert group.get(calls[0]) == [12, 23]
    with pytest.raises(ValueError, match="3 tuples of arguments for 2 residents"):
        group.call("add", [(1,), (2,), (3,)])


def test_results_go_from_resident_to_resident(group: Group) -> None:
    # Larger than what a pipe or a message takes.
    vectors = group.call("vector", [(200_000,)] * 2)
    sums = group.call("gather", [(vectors, vectors[index]) for index in range(2)])
    assert group.get(sums) == [200_000 * (3 + index) for index in (1, 2)]
    assert np.array_equal(group.get(vectors[:1])[0], np.ones(200_000))


def test_results_go_from_group_to_group(executor: BaseExecutor, group: Group) -> None:
    coarse = executor.residents("toys:Counter", [{"start": 100}])
    vectors = group.call("vector", [(10,)] * 2)
    assert coarse.get(coarse.call("gather", [(vectors, coarse.call("vector", [(1,)])[0])])) == [130]


def test_slices_go_where_they_are_wanted(executor: BaseExecutor, group: Group) -> None:
    # Some of them larger than what a pipe or a message takes, some empty.
    sizes = [200_000, 3, 0]
    slices = group.call_split("slices", [(sizes,)] * 2, 3)
    assert [len(refs) for refs in slices] == [3, 3]
    sums = group.call("gather", [([slices[0][to], slices[1][to]], slices[index][1]) for index, to in ((0, 0), (1, 2))])
    assert group.get(sums) == [200_000 * (10 + 20) + 3 * 11, 3 * 21]
    assert [len(each) for each in group.get(slices[1])] == sizes
    # One for each of one is still a list.
    ((one,), (other,)) = group.call_split("slices", [([5],)] * 2, 1)
    assert np.array_equal(group.get([other])[0], np.full(5, 20.0)) and len(group.get([one])[0]) == 5
    # To residents of another group.
    coarse = executor.residents("toys:Counter", [{"start": 100}])
    assert coarse.get(coarse.call("gather", [([slices[0][1]], slices[1][1])])) == [3 * 11 + 3 * 21]


def test_slices_that_cannot_be_had(group: Group) -> None:
    for refs in group.call_split("slices", [([1, 2],)] * 2, 3):
        with pytest.raises(TaskFailedError, match=r"slices: ValueError: 2 results, expected 3"):
            group.get(refs[1:])
    add(group, [-10, 0])
    refused, there = group.call_split("slices", [([1, 2],)] * 2, 2)
    users = group.call("gather", [([refused[1], there[1]], there[0])] * 2)
    for refs in ([refused[0]], users):
        with pytest.raises(TaskFailedError, match=r"toys:Counter\[0\].slices: ValueError: negative"):
            group.get(refs)
    assert len(group.get(there)) == 2
    # All of a resident that dies are lost, those of others are not.
    lost = group.call("die", [()] * 2)
    slices = group.call_split("slices", [([1, 2],)] * 2, 2)
    with pytest.raises(ResidentLostError):
        group.get([*lost, *slices[0], *slices[1]])


def test_an_error_of_a_method(group: Group) -> None:
    refused = group.call("refuse", [()] * 2)
    # Those that use the result fail for the same reason.
    users = group.call("gather", [([refused[0]], refused[1])] * 2)
    for refs in (refused, users):
        with pytest.raises(TaskFailedError, match=r"toys:Counter\[0\].refuse: ValueError: refused by 1"):
            group.get(refs)
    assert add(group, [0, 0]) == [1, 2]


def test_an_error_of_the_factory(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    with pytest.raises(TaskFailedError, match=r"toys:Counter\[1\].__init__: TypeError"):
        executor.residents("toys:Counter", [{"start": 1}, {"begin": 1}])


def test_a_factory_that_reads_a_damaged_shard(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    executor.run([Task("squares/00005", "toys:square", {"number": 5})])
    before = storage.read("squares/5")
    storage.write("squares/5", [before[:-1], b"x"])
    group = executor.residents("toys:counter_of_square", [{"number": 5}])
    assert group.get(group.call("add", [(0,)])) == [25] and storage.read("squares/5") == before


@pytest.mark.parametrize("when", ["busy", "idle"])
def test_a_resident_is_killed(group: Group, when: str) -> None:
    add(group, [10, 20])
    group.get(group.call("save", [()] * 2))
    add(group, [1, 1])
    pid = group.get(group.call("pid", [()] * 2))[1]
    naps = group.call("nap", [(0.3,)] * 2) if when == "busy" else []
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ResidentLostError, match=r"toys:Counter\[1\]"):
        # One that was restarted meanwhile must not be taken for the old one.
        time.sleep(0.1 if when == "busy" else 1)
        group.get(naps or group.call("add", [(1,)] * 2))
    assert group.restart_dead() == [1]
    group.get(group.call("load", [()] * 2))
    assert add(group, [0, 0]) == [11, 22]
    assert group.restart_dead() == []


def test_a_resident_that_always_dies(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    group = executor.residents("toys:Counter", [{"start": 1}])
    for _ in range(3):
        with pytest.raises(ResidentLostError):
            group.get(group.call("die", [()]))
        assert group.restart_dead() == [0]
    with pytest.raises(ResidentLostError):
        group.get(group.call("die", [()]))
    with pytest.raises(OutOfMemoryError, match="more partitions"):
        group.restart_dead()


def test_a_node_with_residents_is_killed(cluster: Any, third_node: Any, storage: Storage) -> None:
    from taugraph.distributed import Ray

    with Ray(patience=10) as executor:
        executor.attach(storage)
        group = executor.residents("toys:Counter", [{"start": start} for start in range(4)])
        nodes = group.get(group.call("node", [()] * 4))
        assert "third" in nodes
        group.get(group.call("save", [()] * 4))
        cluster.remove_node(third_node, allow_graceful=False)
        with pytest.raises(ResidentLostError):
            for _ in range(100):
                add(group, [1] * 4)
                time.sleep(0.1)
        assert group.restart_dead() == [index for index, node in enumerate(nodes) if node == "third"]
        group.get(group.call("load", [()] * 4))
        assert add(group, [1] * 4) == [1, 2, 3, 4]
        assert "third" not in group.get(group.call("node", [()] * 4))


def test_too_little_memory_for_residents(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    with pytest.raises(InsufficientResourcesError, match="2 residents of toys:Counter need"):
        executor.residents("toys:Counter", [{"start": 1}] * 2, memory=5 * 10**13)


def test_groups_end_with_the_executor(storage: Storage) -> None:
    with Local() as executor:
        executor.attach(storage)
        group = executor.residents("toys:Counter", [{"start": 1}])
        (pid,) = group.get(group.call("pid", [()]))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
