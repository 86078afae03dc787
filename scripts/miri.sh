#!/usr/bin/env bash
# Runs what Miri can run: the allocator of the Python module, named arrays with their encoding, and the readers that use one thread.
# Miri cannot map files (crates/taugraph-io/src/mapped.rs), and it is too slow for numerical work.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo +nightly miri --version > /dev/null 2>&1; then
    echo "SKIPPED: Miri is not installed (rustup toolchain install nightly --component miri --component rust-src)"
    exit 0
fi
# Tests that use rayon are left out: Miri cannot follow the pointers of its queues.
export MIRIFLAGS="-Zmiri-disable-isolation" PROPTEST_CASES=4 PROPTEST_DISABLE_FAILURE_PERSISTENCE=true
echo "== the allocator of the Python module"
sysroot="$(cargo +nightly miri setup --print-sysroot)"
"$(rustup which --toolchain nightly miri)" --sysroot "$sysroot" --edition 2024 --crate-name ballast --test \
    crates/taugraph-python/src/ballast.rs
# Miri ends where an allocation is refused.
echo "== readers"
cargo +nightly miri test --quiet --package taugraph-io --no-default-features --lib -- --skip a_failed_allocation_is_an_error \
    budget:: delimiter:: faults:: matrix_market:: npy:: sparse:: svmlight::
# Checkpoints are of runs, and three tests try thousands of files: they would take hours.
echo "== arrays"
cargo +nightly miri test --quiet --package taugraph --lib -- --skip a_header_that_could_not --skip bytes_cut \
    --skip changed_bytes arrays::
