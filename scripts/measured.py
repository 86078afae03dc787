"""Runs a command and prints its exit code, seconds, processor time and peak memory in bytes as JSON; the command's output goes to standard error.

A separate script because Linux counts the memory of the parent at the start of a child as the child's: this one uses next to nothing.
"""

import json
import os
import subprocess
import sys
import time

start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=sys.stderr)
_, status, usage = os.wait4(child.pid, 0)
seconds = time.perf_counter() - start
found = {"code": os.waitstatus_to_exitcode(status), "seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime}
print(json.dumps(found | {"peak_bytes": 1024 * usage.ru_maxrss}))
