#!/usr/bin/env bash
# Which lines of the readers, of models and of checkpoints the tests run. Needs cargo-llvm-cov and the component llvm-tools.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo llvm-cov --version > /dev/null 2>&1; then
    echo "SKIPPED: cargo-llvm-cov is not installed (cargo install --locked cargo-llvm-cov; rustup component add llvm-tools)"
    exit 0
fi
# The tests run the program many thousand times: their counts are added in a few files.
export LLVM_PROFILE_FILE_NAME="taugraph-%4m.profraw"
cargo llvm-cov clean --workspace --profraw-only
cargo llvm-cov --quiet --no-report --package taugraph-io
cargo llvm-cov --quiet --no-report --package taugraph --lib --test all -- arrays:: checkpoint:: memory:: model::
cargo llvm-cov --quiet --no-report --package taugraph-cli
cargo llvm-cov report --lcov --output-path target/coverage.lcov
python3 scripts/covered_lines.py target/coverage.lcov
