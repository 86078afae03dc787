#!/usr/bin/env bash
# What the tests do in part, in full, with its figures:
#     faults      200 kills, 400 damaged stages through the program, every operation on a file failed once, failed from there on, and
#                 stopped at, every large allocation refused
#     interrupts  how long every stage takes to notice an interrupt
#     soak        a thousand fits in Python, or FITS of them
#     deny        the dependencies, if cargo-deny is installed
#     miri        what Miri can run
#     coverage    lines that the tests run
# scripts/audit.sh does all of it, scripts/audit.sh soak miri only some. Fuzzing (make fuzz) and mutants (make mutants) take hours and are
# apart.
set -euo pipefail
cd "$(dirname "$0")/.."
parts=("$@")
if [ ${#parts[@]} = 0 ]; then
    parts=(faults interrupts soak deny miri coverage)
fi
for part in "${parts[@]}"; do
    begin="$SECONDS"
    case "$part" in
        faults)
            TAUGRAPH_AUDIT=1 cargo test --package taugraph-cli --test all -- --nocapture --test-threads=1 kills:: damage:: faults::
            ;;
        interrupts) cargo run --quiet --release --package taugraph --example interrupts ;;
        soak)
            .venv/bin/python -m pip install --quiet --disable-pip-version-check .
            .venv/bin/python scripts/soak.py "${FITS:-1000}"
            ;;
        deny) scripts/deny.sh --if-installed ;;
        miri) scripts/miri.sh ;;
        coverage) scripts/coverage.sh ;;
        *)
            echo "there is no part '$part'; see the head of scripts/audit.sh" >&2
            exit 2
            ;;
    esac
    echo "== $part: $((SECONDS - begin)) s"
done
