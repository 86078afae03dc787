#!/usr/bin/env bash
# Fuzzes every target for some minutes each (1 by default; scripts/fuzz.sh 10; scripts/fuzz.sh 0.5 npz csv for only some), starting from
# the files in fuzz/corpus. What it finds on the way goes to fuzz/found, what fails to fuzz/artifacts. SANITIZER=address also looks for
# reads and writes outside of what was allocated; it is several times slower.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds="$(awk -v minutes="${1:-1}" 'BEGIN { printf "%d", 60 * minutes }')"
shift || true
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

# Coverage for libFuzzer needs an unstable flag; a stable compiler takes it with this.
export RUSTC_BOOTSTRAP=1
coverage="-sanitizer-coverage-level=4 -sanitizer-coverage-inline-8bit-counters -sanitizer-coverage-pc-table -sanitizer-coverage-trace-compares"
RUSTFLAGS="-Cpasses=sancov-module"
for flag in $coverage; do
    RUSTFLAGS+=" -Cllvm-args=$flag"
done
folder="${CARGO_TARGET_DIR:-target}"
case "${SANITIZER:-}" in
    "") ;;
    address)
        RUSTFLAGS+=" -Zsanitizer=address"
        folder+="/address"
        # Half the time to compile.
        export CARGO_PROFILE_RELEASE_OPT_LEVEL=1
        # The limit of the memory counts the sanitizer's own, too.
        memory=4096
        ;;
    *)
        echo "SANITIZER is address or nothing" >&2
        exit 2
        ;;
esac
export RUSTFLAGS="$RUSTFLAGS --cfg fuzzing"
export RUSTC_WRAPPER="$PWD/../scripts/fuzz_rustc.sh"
export CARGO_TARGET_DIR="$folder"
# With a target named, build scripts and macros are compiled without these flags.
host="$(rustc -vV | sed -n 's/^host: //p')"
bins=()
for target in "${targets[@]}"; do
    bins+=(--bin "$target")
done
cargo build --quiet --release "${bins[@]}" --target "$host"

# Some targets write small files; nothing is gained by writing them to a disk.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
    export TMPDIR=/dev/shm
fi

failed=()
total=0
for target in "${targets[@]}"; do
    echo "== $target, $seconds s${SANITIZER:+, $SANITIZER sanitizer}"
    mkdir -p "found/$target" "artifacts/$target"
    log="found/$target${SANITIZER:+.$SANITIZER}.log"
    if ! "$folder/$host/release/$target" "found/$target" "corpus/$target" -artifact_prefix="artifacts/$target/" \
        -max_total_time="$seconds" -rss_limit_mb="${memory:-2048}" -timeout=10 -print_final_stats=1 > "$log" 2>&1; then
        failed+=("$target")
    fi
    grep -E "^(stat::number_of_executed_units|stat::peak_rss_mb|SUMMARY|.*(ERROR|panicked|deadly signal))" "$log" || true
    executed="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    total=$((total + ${executed:-0}))
done
echo "executions in all: $total"
if [ ${#failed[@]} != 0 ]; then
    echo "failed: ${failed[*]}; see fuzz/artifacts and fuzz/found/*.log" >&2
    exit 1
fi
