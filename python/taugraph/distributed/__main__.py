"""``python -m taugraph.distributed``: clusters of tables that are larger than one machine."""

from __future__ import annotations

import os
import sys

from ._command import main

if __name__ == "__main__":
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = 141
        # What is left is written when the interpreter ends; nobody would read it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
