"""Storage in a folder and in a bucket: the same behavior."""

from __future__ import annotations

import errno
import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taugraph.distributed import DamagedShardError, StorageError, StorageFullError, StorageNotSharedError
from taugraph.distributed._executor import BaseExecutor
from taugraph.distributed._storage import Storage
from taugraph.distributed._tasks import Task


@pytest.fixture(params=["path", "file", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "path":
        return Storage(str(tmp_path / "a folder"))
    if request.param == "file":
        return Storage((tmp_path / "a folder").as_uri())
    endpoint = request.getfixturevalue("endpoint")
    return Storage(f"s3://bucket/{tmp_path.name}?endpoint_override={endpoint}&scheme=http&region=us-east-1")


def test_what_is_written_is_read(place: Storage) -> None:
    assert place.list() == [] and not place.exists("a/b") and place.size("a/b") is None
    assert place.write("a/b", [b"12", memoryview(b"345")]) == 5
    assert place.write("a/c", []) == 0
    assert place.write("d", [b"6"]) == 1
    assert place.read("a/b") == b"12345" and place.size("a/b") == 5 and place.exists("a/c")
    assert place.list() == ["a/b", "a/c", "d"] and place.list("a") == ["a/b", "a/c"]
    place.write("a/b", [b"again"])
    assert place.read("a/b") == b"again"
    place.delete("d")
    place.delete("never there")
    assert place.list() == ["a/b", "a/c"]
    place.delete("a")
    assert place.list() == []
    with pytest.raises(FileNotFoundError):
        place.read("a/b")


def test_shards_and_documents(place: Storage) -> None:
    arrays = {"x": np.arange(1_000_000), "y": np.ones(3, "f4")}
    about = place.write_shard("shards/1", arrays, "stage/1")
    assert place.size("shards/1") == about["bytes"]
    found = pickle.loads(pickle.dumps(place)).read_shard("shards/1")
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
    with pytest.raises(DamagedShardError, match="does not exist"):
        place.read_shard("shards/2")
    place.write_json("records/1.json", {"b": 1, "a": [1.5, None]})
    assert place.read_json("records/1.json") == {"a": [1.5, None], "b": 1}


def test_names_stay_inside(place: Storage) -> None:
    for name in ("../x", "a/../../x", "/x", "", "a//b", "a/./b", "a\\b"):
        with pytest.raises(ValueError, match="is not a name"):
            place.write(name, [b""])


@pytest.mark.parametrize("uri", ["gs://bucket", "s3://", "s3://user:word@bucket", "file://host/path"])
def test_other_addresses_are_refused(uri: str) -> None:
    with pytest.raises(StorageError):
        Storage(uri)


def test_a_bucket_that_does_not_exist(endpoint: str) -> None:
    with pytest.raises((StorageError, FileNotFoundError), match="nowhere"):
        Storage(f"s3://nowhere/x?endpoint_override={endpoint}&scheme=http&region=us-east-1").write("a", [b"1"])


def test_a_full_disk(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFullError) as error:
        storage.write("a/b", [b"1" * 1500])
    assert "1.5 kB" in str(error.value) and error.value.needed == 1500
    assert error.value.free == pytest.approx(storage.free_bytes(), rel=0.5)
    assert [name for _, _, names in os.walk(storage.uri) for name in names] == []


def test_leftovers_of_dead_writers_are_removed(storage: Storage) -> None:
    storage.write("a/b", [b"1"])
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    host, folder = socket.gethostname(), Path(storage.uri, "a")
    writers = (f"{host}.{gone.pid}", f"{host}.{os.getpid()}", "elsewhere.1")
    dead, alive, elsewhere = (folder / f".b.{writer}.0.part" for writer in writers)
    for part in (dead, alive, elsewhere):
        part.write_bytes(b"1")
    assert storage.list() == ["a/b"]
    assert storage.remove_leftovers() == 1 and not dead.exists()
    assert storage.remove_leftovers(older_than=-1) == 1 and not elsewhere.exists() and alive.exists()


def test_free_bytes(storage: Storage) -> None:
    assert (storage.free_bytes() or 0) > 0


def test_a_run_on_a_bucket(endpoint: str, executor: BaseExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nodes of a cluster have credentials of their own.
    if hasattr(executor, "runtime_env"):
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED")
        given: Any = {"env_vars": {**executor.runtime_env["env_vars"], **{name: os.environ[name] for name in names}}}
        monkeypatch.setattr(executor, "runtime_env", given)
    storage = Storage(f"s3://bucket/run-{tmp_path.name}?endpoint_override={endpoint}&scheme=http&region=us-east-1")
    executor.attach(storage)
    executor.run([Task(f"squares/{number}", "toys:square", {"number": number}) for number in range(4)])
    assert executor.run([Task("total/0", "toys:total", {"numbers": [0, 1, 2, 3]})]) == [{"total": 14}]


class HalfShared(Storage):
    """A folder that one node does not see."""

    def read(self, name: str) -> bytes:
        if os.environ.get("TOY_NODE") == "second" and name.startswith("tokens/"):
            raise FileNotFoundError(name)
        return super().read(name)


def test_a_folder_that_a_node_does_not_see(cluster: Any, tmp_path: Path) -> None:
    from taugraph.distributed import Ray

    with Ray(patience=3) as executor:
        with pytest.raises(StorageNotSharedError) as error:
            executor.attach(HalfShared(str(tmp_path)))
        assert len(error.value.nodes) == 1 and error.value.nodes[0] in {node.name for node in executor.nodes()}
        assert error.value.nodes[0] in str(error.value)
    assert Storage(str(tmp_path)).list() == []
