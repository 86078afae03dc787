"""The share of lines that tests run, of the code that reads and keeps data; lines of the tests themselves do not count.

    python3 scripts/covered_lines.py FILE.lcov [--missing]     --missing lists the lines that no test runs
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUPS = {
    "readers and writers": ["crates/taugraph-io/src/"],
    "models and arrays": ["crates/taugraph/src/model/", "crates/taugraph/src/arrays/"],
    "checkpoints": [
        "crates/taugraph/src/checkpoint.rs",
        "crates/taugraph-cli/src/work_folder.rs",
        "crates/taugraph-cli/src/stage_file.rs",
    ],
}


def product_lines(path):
    """Lines before the tests of the file; tests come last everywhere."""
    lines = (ROOT / path).read_text().splitlines()
    for number in range(len(lines) - 1):
        if lines[number].startswith(("#[cfg(test", "#[cfg(all(test")) and lines[number + 1].startswith("mod "):
            return number
    return len(lines)


def read(file):
    """For each file of the project, which of its lines run."""
    known, path = {}, None
    for line in Path(file).read_text().splitlines():
        kind, _, rest = line.partition(":")
        if kind == "SF":
            path = Path(rest)
            path = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else None
        elif kind == "DA" and path:
            number, count = rest.split(",")[:2]
            runs = known.setdefault(path, {})
            runs[int(number)] = runs.get(int(number), 0) + int(count)
    return known


def main():
    known, below = read(sys.argv[1]), []
    for group, places in GROUPS.items():
        covered = total = 0
        rows = []
        for path in sorted(known):
            if not any(path.startswith(place) for place in places):
                continue
            end = product_lines(path)
            runs = {number: count for number, count in known[path].items() if number <= end}
            missing = sorted(number for number, count in runs.items() if count == 0)
            if not runs:
                continue
            covered += len(runs) - len(missing)
            total += len(runs)
            rows.append((path, len(runs) - len(missing), len(runs), missing))
        share = 100 * covered / total if total else 0
        print(f"{group}: {covered} of {total} lines, {share:.1f} %")
        for path, some, all_lines, missing in rows:
            print(f"    {path}: {some} of {all_lines}, {100 * some / all_lines:.1f} %")
            if missing and "--missing" in sys.argv:
                print("        not run:", *missing)
        if share < 90:
            below.append(group)
    if below:
        sys.exit(f"below 90 %: {', '.join(below)}")


if __name__ == "__main__":
    main()
