#!/usr/bin/env bash
# Changes the code of readers, models and checkpoints in small ways, one at a time, and counts the changes that the tests notice. Needs
# cargo-mutants. scripts/mutants.sh 0/20 tries every twentieth change, 0/1 all of them, which takes days; scripts/mutants.sh 0/20 io only
# those of a part: io, library or program.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo mutants --version > /dev/null 2>&1; then
    echo "SKIPPED: cargo-mutants is not installed (cargo install --locked cargo-mutants)"
    exit 0
fi
shard="${1:-0/20}"
shift || true
parts=("${@:-io library program}")
results="$PWD/target/mutants-results"
mkdir -p "$results"
# Only what changes is compiled again, and quickly.
export CARGO_TARGET_DIR="$PWD/target/mutants" CARGO_INCREMENTAL=1
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
git ls-files -z | xargs -0 cp --parents --target-directory "$copy"
# cargo-mutants does not find modules that are listed within another one. With the tests of models inside the library, it is compiled
# once for each change instead of twice.
python3 - "$copy/crates/taugraph/src/lib.rs" << 'PYTHON'
import re
import sys

path = sys.argv[1]
text = open(path).read()
text = re.sub(r'#\[path = "\."\]\nmod modules \{\n(.*?)\n\}\n', r"\1\n", text, flags=re.DOTALL)
text = re.sub(r'#\[cfg\(.*\)\]\npub.* use modules::\*;\n', "", text)
text += '\n#[cfg(test)]\nextern crate self as taugraph;\n#[cfg(test)]\n#[path = "../tests/model.rs"]\nmod model_tests;\n'
open(path, "w").write(text)
PYTHON

# A limit of the processor's time tells an endless loop from a busy machine, one of memory ends what only grows; what waits for ever
# meets the time limit of cargo-mutants.
host="$(rustc -vV | sed -n 's/^host: //p')"
printf '#!/bin/sh\nulimit -t 300\nulimit -v 8000000\nexec "$@"\n' > "$copy/limited"
chmod +x "$copy/limited"
runner="CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<< "$host")_RUNNER"
export "$runner=$copy/limited"

# Which changes are tried, then what cargo-mutants is told. Changes that were missed (2) or took too long (3) are counted below; anything
# else ends it.
try_out() {
    local code=0
    cargo mutants --dir "$copy" --in-place --profile mutants --minimum-test-timeout 900 --colors never --no-times "$@" || code=$?
    [ "$code" = 0 ] || [ "$code" = 2 ] || [ "$code" = 3 ]
}

# A part: its name, tests that take long, then what cargo-mutants is told. What the other tests miss is tried again with all of them.
try_part() {
    local part="$1" slow=("$2") skipped=() missed=()
    shift 2
    echo "== $part, $shard"
    for test in ${slow[*]}; do
        skipped+=(--skip "$test")
    done
    rm -rf "${results:?}/$part"
    try_out --output "$results/$part" --shard "$shard" --sharding round-robin "$@" "${skipped[@]}"
    local found="$results/$part/mutants.out"
    local caught timeout unviable n_missed
    caught="$(wc -l < "$found/caught.txt")" timeout="$(wc -l < "$found/timeout.txt")"
    unviable="$(wc -l < "$found/unviable.txt")" n_missed="$(wc -l < "$found/missed.txt")"
    if [ "$n_missed" != 0 ] && [ "$slow" != "" ]; then
        while read -r change; do
            missed+=(--re "^$(sed -E 's/[][(){}.*+?^$|\\]/\\&/g' <<< "$change")\$")
        done < "$found/missed.txt"
        try_out --output "$results/$part-again" "${missed[@]}" "$@"
        found="$results/$part-again/mutants.out"
        caught=$((caught + $(wc -l < "$found/caught.txt"))) timeout=$((timeout + $(wc -l < "$found/timeout.txt")))
        n_missed="$(wc -l < "$found/missed.txt")"
    fi
    cp "$found/missed.txt" "$results/$part-missed.txt"
    echo "$part: $caught caught, $timeout by a time limit, $n_missed missed, $unviable not compiled"
}

for part in ${parts[*]}; do
    case "$part" in
        io)
            # What replaces Parquet is compiled only where Parquet is not: by `make test`, not here.
            try_part io "large_text_tables broken_text_tables checksums::" --package taugraph-io \
                --exclude crates/taugraph-io/src/without_parquet.rs --cargo-arg=--lib --cargo-arg=--test=all -- --
            ;;
        library)
            slow="a_run_goes_on_from_any_stage what_does_not_fit_is_computed_again every_kind_of_model_places_well
                held_out_points known_points_moved a_point_equal_to no_damaged_file"
            try_part library "$slow" --package taugraph --features unstable --file 'crates/taugraph/src/model/*.rs' \
                --file 'crates/taugraph/src/arrays/*.rs' --file crates/taugraph/src/checkpoint.rs \
                --cargo-arg=--config=profile.mutants.package.taugraph.opt-level=0 --cargo-arg=--lib -- -- \
                arrays:: checkpoint:: model:: model_tests::
            ;;
        program)
            try_part program "" --package taugraph-cli --file crates/taugraph-cli/src/work_folder.rs \
                --file crates/taugraph-cli/src/stage_file.rs --cargo-arg=--bin=taugraph --cargo-arg=--test=all -- -- \
                checkpoints:: damage:: stage_file:: work_folder::
            ;;
        *)
            echo "there are the parts io, library and program" >&2
            exit 2
            ;;
    esac
done
