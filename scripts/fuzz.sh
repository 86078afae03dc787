#!/usr/bin/env bash
# Fuzzes every reader for some seconds each (60 by default; scripts/fuzz.sh 600), starting from files written by the program.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-60}"

# Installs cargo-fuzz into a folder of the project, if it is missing.
tools="$PWD/.tools"
if ! "$tools/bin/cargo-fuzz" --version >/dev/null 2>&1; then
    cargo install --quiet --locked --root "$tools" cargo-fuzz
fi
export PATH="$tools/bin:$PATH"

cargo build --quiet --release
taugraph="$PWD/target/release/taugraph"
seed() { # seed TARGET ENDING: a small file of each kind
    mkdir -p "fuzz/corpus/$1"
    "$taugraph" generate blobs --points 20 --blobs 2 --output "fuzz/corpus/$1/points.$2"
}
seed csv csv
seed npy npy
seed parquet parquet
mkdir -p fuzz/corpus/npz fuzz/corpus/matrix_market
for target in npz matrix_market; do
    ending=$([ "$target" = npz ] && echo npz || echo mtx)
    "$taugraph" graph fuzz/corpus/csv/points.csv --drop label --neighbors 3 --set graph.estimator.pool=3 --set graph.first_scale.k=3 --quiet \
        --output "fuzz/corpus/$target/graph.$ending"
done
mkdir -p fuzz/corpus/model
"$taugraph" cluster fuzz/corpus/csv/points.csv --drop label --neighbors 3 --set graph.estimator.pool=3 --set graph.first_scale.k=3 --clusters 2 --quiet \
    --output /dev/null --save-model fuzz/corpus/model/model.safetensors

mkdir -p fuzz/corpus/svmlight
printf '# points\n+1 qid:1 1:0.5 3:-2e1\n-1 2:1 # last\n' > fuzz/corpus/svmlight/points.svm

# Sanitizers need unstable flags; a stable compiler takes them with this.
export RUSTC_BOOTSTRAP=1
for target in csv npy npz parquet matrix_market svmlight model; do
    echo "== $target, $seconds s"
    cargo fuzz run "$target" -- -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 2>&1 |
        grep -E "^(stat::number_of_executed_units|stat::peak_rss_mb|SUMMARY|.*(ERROR|panicked|deadly signal))" || true
    if [ -n "$(ls -A "fuzz/artifacts/$target" 2>/dev/null)" ]; then
        echo "$target failed: see fuzz/artifacts/$target" >&2
        exit 1
    fi
done
