#!/usr/bin/env bash
# What the tests do in part, in full, with its figures: 200 kills, 400 damaged stages through the program, every operation on a file failed once,
# failed from there on, and stopped at, every large allocation refused; how long every stage takes to notice an interrupt; a thousand
# fits in Python; lines that the tests run, and what Miri can run. Fuzzing (make fuzz) and mutants (make mutants) take hours and are apart.
set -euo pipefail
cd "$(dirname "$0")/.."
TAUGRAPH_AUDIT=1 cargo test --package taugraph-cli --test all -- --nocapture --test-threads=1 kills:: damage:: faults::
cargo run --quiet --release --package taugraph --example interrupts
.venv/bin/python -m pip install --quiet --disable-pip-version-check .
.venv/bin/python scripts/soak.py
scripts/miri.sh
scripts/coverage.sh
