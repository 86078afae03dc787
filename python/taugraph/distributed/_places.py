"""Where files can be: a folder, or a bucket of an object store. A file is seen whole or not at all in both."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from ._errors import MissingDependencyError, StorageError, StorageFullError

Chunk = bytes | memoryview

_PART = ".part"
_counter = count()


class Place(Protocol):
    """Names are relative, with slashes. A name that does not exist is a ``FileNotFoundError``."""

    def write(self, name: str, chunks: Sequence[Chunk]) -> None: ...
    def read(self, name: str) -> bytes: ...
    def size(self, name: str) -> int | None: ...
    def list(self, prefix: str) -> list[str]: ...
    def delete(self, prefix: str) -> None: ...
    def free_bytes(self) -> int | None: ...
    def remove_leftovers(self, older_than: float) -> int: ...


class Folder:
    """A folder that every process sees: a local disk for one machine, a network file system for many."""

    def __init__(self, path: str) -> None:
        self.path = Path(path).expanduser().absolute()

    def write(self, name: str, chunks: Sequence[Chunk]) -> None:
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise StorageError(f"{target.parent} is not a folder") from error
        # The name tells whose it is, so that nobody removes the file of a living writer.
        part = target.with_name(f".{target.name}.{socket.gethostname()}.{os.getpid()}.{next(_counter)}{_PART}")
        try:
            with open(part, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
            _sync_folder(target.parent)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                # Removed first, for its bytes count as well.
                part.unlink(missing_ok=True)
                needed = sum(memoryview(chunk).nbytes for chunk in chunks)
                raise StorageFullError(str(self.path), name, needed, self.free_bytes()) from error
            raise
        finally:
            part.unlink(missing_ok=True)

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def size(self, name: str) -> int | None:
        try:
            return (self.path / name).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def list(self, prefix: str) -> list[str]:
        found = (Path(folder, name) for folder, _, names in os.walk(self.path / prefix) for name in names)
        return sorted(file.relative_to(self.path).as_posix() for file in found if file.suffix != _PART)

    def delete(self, prefix: str) -> None:
        target = self.path / prefix
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    def free_bytes(self) -> int | None:
        # The folder itself may not exist yet.
        existing = next(folder for folder in (self.path, *self.path.parents) if folder.exists())
        return shutil.disk_usage(existing).free

    def remove_leftovers(self, older_than: float) -> int:
        removed = 0
        for folder, _, files in os.walk(self.path):
            for part in (Path(folder, name) for name in files if name.startswith(".") and name.endswith(_PART)):
                if _is_leftover(part, older_than):
                    part.unlink(missing_ok=True)
                    removed += 1
        return removed


def _sync_folder(folder: Path) -> None:
    """Makes a rename survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_leftover(part: Path, older_than: float) -> bool:
    """Whether nobody writes this file any more: its writer is dead, or, on another machine, has long been silent."""
    host, _, rest = part.name.removesuffix(_PART).rpartition(".")[0].rpartition(".")
    if host.endswith(f".{socket.gethostname()}") and rest.isdigit():
        try:
            os.kill(int(rest), 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return False
    try:
        return time.time() - part.stat().st_mtime > older_than
    except FileNotFoundError:
        return False


class Bucket:
    """A bucket of S3 or of a service that speaks its protocol."""

    def __init__(self, path: str, options: dict[str, str]) -> None:
        try:
            from pyarrow import fs
        except ImportError as error:
            raise MissingDependencyError("S3 needs pyarrow: pip install taugraph[distributed]") from error
        self.path = path.strip("/")
        named = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        endpoint = options.pop("endpoint_override", None) or named
        arguments: dict[str, Any] = {}
        if endpoint:
            scheme, separator, host = endpoint.rpartition("://")
            arguments = {"endpoint_override": host, **({"scheme": scheme} if separator else {})}
        region = options.pop("region", None) or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        if region:
            arguments["region"] = region
        if "scheme" in options:
            arguments["scheme"] = options.pop("scheme")
        if options:
            unknown = ", ".join(sorted(options))
            raise StorageError(f"unknown in the address of a bucket: {unknown}; known: endpoint_override, region, scheme")
        self.fs: Any = fs.S3FileSystem(**arguments)
        self.fs_module: Any = fs

    def _at(self, name: str) -> str:
        return f"{self.path}/{name}".strip("/")

    def write(self, name: str, chunks: Sequence[Chunk]) -> None:
        # All chunks are in memory, so nothing of ours can fail between the first and the last: a stream that ends early would be
        # closed by its destructor, and the cut file become visible.
        ready = [memoryview(chunk) for chunk in chunks]
        with _named_errors(self._at(name)), self.fs.open_output_stream(self._at(name)) as stream:
            for chunk in ready:
                stream.write(chunk)

    def read(self, name: str) -> bytes:
        with _named_errors(self._at(name)), self.fs.open_input_file(self._at(name)) as stream:
            return bytes(stream.read())

    def size(self, name: str) -> int | None:
        with _named_errors(self._at(name)):
            info = self.fs.get_file_info(self._at(name))
        return int(info.size) if info.type == self.fs_module.FileType.File else None

    def list(self, prefix: str) -> list[str]:
        selector = self.fs_module.FileSelector(self._at(prefix), recursive=True, allow_not_found=True)
        with _named_errors(self._at(prefix)):
            found = self.fs.get_file_info(selector)
        start = len(self.path) + 1
        return sorted(info.path[start:] for info in found if info.type == self.fs_module.FileType.File)

    def delete(self, prefix: str) -> None:
        with _named_errors(self._at(prefix)):
            kind = self.fs.get_file_info(self._at(prefix)).type
            if kind == self.fs_module.FileType.Directory:
                self.fs.delete_dir_contents(self._at(prefix), missing_dir_ok=True)
            elif kind == self.fs_module.FileType.File:
                self.fs.delete_file(self._at(prefix))

    def free_bytes(self) -> int | None:
        return None

    def remove_leftovers(self, older_than: float) -> int:
        # Uploads that were cut off are never seen; a rule of the bucket removes them.
        return 0


@contextmanager
def _named_errors(path: str) -> Iterator[None]:
    """Errors of the object store with the path, except that something does not exist."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageError(f"s3://{path}: {error}") from error
