"""What a machine is: its processor, its C library, its memory.

The same wheel, C library and processor features give the same bits, so each record of a task names them.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from pathlib import Path

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


class PeakMemory:
    """The peak of this process's memory since the object was made; of the whole process where the system cannot reset it."""

    def __init__(self) -> None:
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            pass

    def bytes(self) -> int:
        try:
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        except OSError:
            pass
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if platform.system() == "Darwin" else peak * 1024
