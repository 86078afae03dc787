#!/usr/bin/env bash
# Prints the path of Chromium. If there is none, installs Debian's if possible; otherwise prints nothing and reports it.
set -euo pipefail
find_it() {
    for name in "${TAUGRAPH_CHROMIUM:-}" chromium chromium-browser google-chrome; do
        if [ -n "$name" ] && command -v "$name"; then
            return 0
        fi
    done
    return 1
}
if find_it; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "installing Chromium for the browser tests" >&2
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } > /dev/null 2>&1 || true
fi
find_it || echo "SKIPPED: the browser tests need Chromium; install it, or name it in TAUGRAPH_CHROMIUM" >&2
