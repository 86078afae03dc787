"""The storage of a run: shards and records in a folder or a bucket that the driver and all workers see."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import numpy as np

from ._errors import DamagedShardError, StorageError, StorageNotSharedError
from ._places import Bucket, Chunk, Folder, Place
from ._shards import decode, encode

if TYPE_CHECKING:
    from ._executor import Executor

_TOKENS = "tokens"


class Storage:
    """Files by name.

    Parameters
    ----------
    uri : str
        A path, ``file:///path``, or ``s3://bucket/prefix``. For services other than Amazon's add
        ``?endpoint_override=host:port&scheme=http`` or set ``AWS_ENDPOINT_URL``; credentials come from the environment or the
        machine's role.
    """

    def __init__(self, uri: str) -> None:
        self.uri = str(uri)
        self._place = place_of(self.uri)

    def __repr__(self) -> str:
        return f"Storage({self.uri!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Connections do not travel to workers.
        return type(self), (self.uri,)

    def write(self, name: str, chunks: Sequence[Chunk]) -> int:
        """Write a file, which is visible when it is complete and on disk, and return its size."""
        self._place.write(_checked(name), chunks)
        return sum(memoryview(chunk).nbytes for chunk in chunks)

    def read(self, name: str) -> bytes:
        return self._place.read(_checked(name))

    def exists(self, name: str) -> bool:
        return self.size(name) is not None

    def size(self, name: str) -> int | None:
        """The size of a file in bytes, ``None`` if it does not exist."""
        return self._place.size(_checked(name))

    def list(self, prefix: str = "") -> list[str]:
        """The names of all files in this folder and those below, sorted."""
        return self._place.list(_checked(prefix) if prefix else "")

    def delete(self, prefix: str) -> None:
        """Delete a file, or a folder with everything in it, if it exists."""
        self._place.delete(_checked(prefix))

    def free_bytes(self) -> int | None:
        """What can still be written; ``None`` if unknown, as in object stores."""
        return self._place.free_bytes()

    def remove_leftovers(self, older_than: float = 3600) -> int:
        """Remove unfinished files of writers that were killed; of other machines' only those untouched for ``older_than``
        seconds."""
        return self._place.remove_leftovers(older_than)

    def write_shard(self, name: str, arrays: Mapping[str, np.ndarray], task: str) -> dict[str, Any]:
        """Write a shard; returns its size and checksum."""
        encoded = encode(arrays, task)
        self.write(name, encoded.chunks)
        return {"bytes": encoded.bytes, "sha256": encoded.sha256}

    def read_shard(self, name: str) -> dict[str, np.ndarray]:
        try:
            data = self.read(name)
        except FileNotFoundError as error:
            raise DamagedShardError(name, None, "it does not exist") from error
        return decode(data, name)

    def write_json(self, name: str, value: Any) -> None:
        self.write(name, [json.dumps(value, sort_keys=True, indent=1).encode()])

    def read_json(self, name: str) -> Any:
        return json.loads(self.read(name))

    def check_shared(self, executor: Executor) -> str:
        """Let every node read a token that is written here, and return it. Workers that start later look for it too."""
        token = secrets.token_hex(8)
        try:
            self.write(f"{_TOKENS}/{token}", [token.encode()])
        except (PermissionError, StorageError) as error:
            raise StorageError(f"{self.uri} cannot be written: {error}") from error
        answers = executor.on_every_node(read_token, (self, token))
        failed = {node: answer for node, answer in answers.items() if answer is not None}
        if failed:
            self.remove_token(token)
            raise StorageNotSharedError(self.uri, sorted(failed), next(iter(failed.values())))
        return token

    def remove_token(self, token: str) -> None:
        self.delete(f"{_TOKENS}/{token}")


def read_token(storage: Storage, token: str) -> str | None:
    """Why this process does not see what the driver wrote; ``None`` if it does."""
    try:
        return None if storage.read(f"{_TOKENS}/{token}") == token.encode() else "it is another file there"
    except OSError as error:
        return f"{type(error).__name__}: {error}"


def place_of(uri: str) -> Place:
    if "://" not in uri:
        return Folder(uri)
    parts = urlsplit(uri)
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost"):
            raise StorageError(f"{uri}: a folder has three slashes, file:///path")
        return Folder(unquote(parts.path))
    if parts.scheme == "s3":
        if not parts.netloc or parts.username:
            raise StorageError("a bucket is s3://bucket/prefix; credentials come from the environment, such as AWS_ACCESS_KEY_ID")
        return Bucket(f"{parts.netloc}{unquote(parts.path)}", dict(parse_qsl(parts.query)))
    raise StorageError(f"{uri}: storage is a path, file:// or s3://, not {parts.scheme}://")


def _checked(name: str) -> str:
    """A name that cannot leave the storage."""
    parts = name.rstrip("/").split("/")
    if not all(parts) or "\\" in name or any(part in (".", "..") for part in parts):
        raise ValueError(f"{name!r} is not a name in a storage")
    return "/".join(parts)
