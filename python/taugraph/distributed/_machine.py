"""What a machine is: its processor, its C library, its memory.

The same wheel, C library and processor features give the same bits, so each record of a task names them.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import sys
from pathlib import Path
from typing import Any

from .._core import __version__


@functools.cache
def machine() -> dict[str, str]:
    """What the last bits of a result depend on."""
    fields: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            fields[key.strip()] = value.strip()
    except OSError:
        pass
    flags = " ".join(sorted((fields.get("flags") or fields.get("Features") or "").split()))
    return {
        "cpu": fields.get("model name") or platform.processor() or platform.machine(),
        "features": hashlib.sha256(flags.encode()).hexdigest()[:16],
        "version": __version__,
        "libc": " ".join(platform.libc_ver()).strip() or platform.platform(),
    }


def n_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_bytes() -> int:
    """The memory of this machine, or of the container it is."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            return min(total, int(Path(limit).read_text()))
        except (OSError, ValueError):
            # No such limit, or "max".
            continue
    return total


def give_back() -> None:
    """Return to the system what allocators keep of arrays that are gone: the next task may run in another process."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Any:
    """The C library's function for that, if it has one."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None


class PeakMemory:
    """The peak of this process's memory since the object was made; of the whole process where the system cannot reset it."""

    def __init__(self) -> None:
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            pass
        # What the interpreter, its modules and earlier tasks left.
        self.base = _of_this_process("VmRSS") or 0

    def bytes(self) -> int:
        found = _of_this_process("VmHWM")
        if found is not None:
            return found
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if platform.system() == "Darwin" else peak * 1024


def _of_this_process(field: str) -> int | None:
    """Bytes that the system reports; ``None`` if it has no such file."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
