#!/usr/bin/env bash
# The dependencies by the rules of deny.toml, as cargo-deny sees them: licenses, bans and sources, and known vulnerabilities if their
# database can be fetched. It is installed into .tools if it is missing; with --if-installed nothing is, and nothing is checked then.
set -euo pipefail
cd "$(dirname "$0")/.."
if command -v cargo-deny > /dev/null; then
    deny=cargo-deny
else
    deny=.tools/bin/cargo-deny
    if [ ! -x "$deny" ]; then
        if [ "${1:-}" = --if-installed ]; then
            echo "SKIPPED: cargo-deny is not installed (make deny does it); scripts/check_dependencies.py checks licenses, bans and sources."
            exit 0
        fi
        cargo install --quiet --locked --root .tools cargo-deny
    fi
fi
"$deny" --offline --log-level error check licenses bans sources
if "$deny" --log-level off fetch db > /dev/null 2>&1; then
    "$deny" check --disable-fetch advisories
else
    echo "SKIPPED: the database of advisories cannot be fetched."
fi
