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
# cargo-mutants does not find modules that are listed within another one.
python3 - "$copy/crates/taugraph/src/lib.rs" << 'PYTHON'
import re
import sys

path = sys.argv[1]
text = open(path).read()
text = re.sub(r'#\[path = "\."\]\nmod modules \{\n(.*?)\n\}\n', r"\1\n", text, flags=re.DOTALL)
text = re.sub(r'#\[cfg\(.*\)\]\npub.* use modules::\*;\n', "", text)
open(path, "w").write(text)
PYTHON

# A part: its name, then what cargo-mutants is told.
try_out() {
    local part="$1"
    shift
    echo "== $part, $shard"
    local code=0
    # Changes that were missed (2) or took too long (3) are counted below; anything else ends it.
    cargo mutants --dir "$copy" --in-place --output "$results/$part" --profile mutants --shard "$shard" --sharding round-robin \
        --minimum-test-timeout 60 --colors never --no-times "$@" || code=$?
    [ "$code" = 0 ] || [ "$code" = 2 ] || [ "$code" = 3 ]
}

for part in ${parts[*]}; do
    case "$part" in
        io) try_out io --package taugraph-io ;;
        library)
            try_out library --package taugraph --file 'crates/taugraph/src/model/*.rs' --file 'crates/taugraph/src/arrays/*.rs' \
                --file crates/taugraph/src/checkpoint.rs -- --lib --test all -- arrays:: checkpoint:: model::
            ;;
        program)
            try_out program --package taugraph-cli --file crates/taugraph-cli/src/work_folder.rs \
                --file crates/taugraph-cli/src/stage_file.rs -- --bin taugraph --test all -- \
                checkpoints:: damage:: stage_file:: work_folder::
            ;;
        *)
            echo "there are the parts io, library and program" >&2
            exit 2
            ;;
    esac
    count() { wc -l < "$results/$part/mutants.out/$1.txt"; }
    echo "$part: $(count caught) caught, $(count timeout) by a time limit, $(count missed) missed, $(count unviable) not compiled"
done
