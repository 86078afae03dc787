"""Runs a command and prints its exit code, seconds and peak memory in bytes as JSON; what the command says goes to standard error.

On its own because Linux counts what the parent held when it started a child as the child's: this one holds next to nothing.
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
print(json.dumps({"code": os.waitstatus_to_exitcode(status), "seconds": seconds, "peak_bytes": 1024 * usage.ru_maxrss}))
