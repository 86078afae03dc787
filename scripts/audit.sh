#!/usr/bin/env bash
# What the tests do in part, in full, with its figures: 200 kills, 400 damaged stages through the program, every operation on a file failed once,
# failed from there on, and stopped at; how long every stage takes to notice an interrupt; a thousand fits in Python.
set -euo pipefail
cd "$(dirname "$0")/.."
TAUGRAPH_AUDIT=1 cargo test --package taugraph-cli --test all -- --nocapture --test-threads=1 kills:: damage:: faults::
cargo run --quiet --release --package taugraph --example interrupts
.venv/bin/python -m pip install --quiet --disable-pip-version-check .
.venv/bin/python scripts/soak.py
