#!/usr/bin/env bash
# Fuzzes every target for some minutes each (1 by default; scripts/fuzz.sh 10; scripts/fuzz.sh 0.5 npz csv for only some), starting from
# the files in fuzz/corpus. What it finds on the way goes to fuzz/found, what fails to fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="$(awk -v minutes="${1:-1}" 'BEGIN { printf "%d", 60 * minutes }')"
shift || true

# Installs cargo-fuzz into a folder of the project, if it is missing.
tools="$PWD/.tools"
if ! "$tools/bin/cargo-fuzz" --version >/dev/null 2>&1; then
    cargo install --quiet --locked --root "$tools" cargo-fuzz
fi
export PATH="$tools/bin:$PATH"

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

# Sanitizers need unstable flags; a stable compiler takes them with this.
export RUSTC_BOOTSTRAP=1
for target in "${targets[@]}"; do
    echo "== $target, $seconds s"
    mkdir -p "fuzz/found/$target"
    cargo fuzz run "$target" "fuzz/found/$target" "fuzz/corpus/$target" -- \
        -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 2>&1 |
        grep -E "^(stat::number_of_executed_units|stat::peak_rss_mb|SUMMARY|.*(ERROR|panicked|deadly signal))" || true
    if [ -n "$(ls -A "fuzz/artifacts/$target" 2>/dev/null)" ]; then
        echo "$target failed: see fuzz/artifacts/$target" >&2
        exit 1
    fi
done
