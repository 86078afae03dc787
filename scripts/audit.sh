#!/usr/bin/env bash
# What the tests do in part, in full: 200 kills, 400 damaged stages through the program, and every operation on a file failed once,
# failed from there on, and stopped at. Takes some minutes, and prints how many there were.
set -euo pipefail
cd "$(dirname "$0")/.."
TAUGRAPH_AUDIT=1 cargo test --package taugraph-cli --test all -- --nocapture --test-threads=1 kills:: damage:: faults::
