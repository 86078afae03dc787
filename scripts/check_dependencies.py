"""Licenses, sources and versions of every dependency, by the rules of deny.toml.

    python3 scripts/check_dependencies.py        what `cargo deny check licenses bans sources` would say, without installing it

Reads `cargo metadata` for all platforms and all features. Advisories need the database of RustSec: `make advisories`.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES_IO = {"registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"}
# The settings of deny.toml that this script understands: anything else would be a rule that nobody checks.
UNDERSTOOD = {
    "graph": {"all-features"},
    "advisories": {"ignore"},
    "licenses": {"allow"},
    "bans": {"multiple-versions", "wildcards", "allow-wildcard-paths"},
    "sources": {"unknown-registry", "unknown-git"},
}

# Crates that a build must not contain: only the laboratory downloads, and Python only reads the datasets.
FREE_OF = {
    "taugraph-cli": {"taugraph-lab", "ureq", "rustls"},
    "taugraph-python": {"taugraph-terminal", "clap", "parquet", "ureq", "rustls"},
}


def is_allowed(expression, allowed):
    """Whether a license expression can be met with the allowed licenses.

    >>> is_allowed("MIT OR GPL-3.0", {"MIT"}), is_allowed("MIT AND GPL-3.0", {"MIT"}), is_allowed("GPL-3.0", {"MIT"})
    (True, False, False)
    >>> is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0", {"Apache-2.0", "Unicode-3.0"}), is_allowed("MIT/GPL-3.0", {"MIT"})
    (True, True)
    >>> is_allowed("Apache-2.0 WITH LLVM-exception", {"Apache-2.0"})
    False
    >>> is_allowed("A OR B AND C", {"A"}), is_allowed("A OR B AND C", {"B"}), is_allowed("A OR B AND C", {"B", "C"})
    (True, False, True)
    >>> is_allowed("MIT MIT", {"MIT"})
    Traceback (most recent call last):
    ...
    ValueError: the license expression 'MIT MIT' is not understood
    """
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))
    place = 0

    def take(word):
        nonlocal place
        found = place < len(words) and words[place] == word
        place += found
        return found

    def choice():
        result = both()
        while take("OR"):
            result = both() or result
        return result

    def both():
        result = one()
        while take("AND"):
            result = one() and result
        return result

    def one():
        nonlocal place
        if take("("):
            result = choice()
            if not take(")"):
                place = len(words) + 1
            return result
        name = words[place] if place < len(words) else ""
        place += 1
        if take("WITH"):
            name += f" WITH {words[place] if place < len(words) else ''}"
            place += 1
        return name in allowed

    result = choice()
    if place != len(words):
        raise ValueError(f"the license expression '{expression}' is not understood")
    return result


def problems(packages, members, rules):
    """Everything that breaks a rule.

    >>> rules = {"licenses": {"allow": ["MIT"]}, "bans": {"wildcards": "deny"}, "sources": {"unknown-git": "deny"}}
    >>> package = {"id": "a", "name": "a", "version": "1.0.0", "license": "MIT", "source": None, "publish": None}
    >>> good = package | {"dependencies": [{"name": "b", "req": "^1"}]}
    >>> list(problems([good], {"a"}, rules))
    []
    >>> bad = package | {"license": None, "source": "git+https://b", "dependencies": [{"name": "b", "req": "*"}]}
    >>> for problem in problems([bad], {"a"}, rules): print(problem)
    a 1.0.0 has no license
    a 1.0.0 comes from git+https://b, not from crates.io
    a 1.0.0 needs b in any version; name one
    >>> by_path = {"name": "a", "req": "*", "path": "/a", "kind": "dev"}
    >>> rules["bans"]["allow-wildcard-paths"] = True
    >>> list(problems([package | {"dependencies": [by_path]}], {"a"}, rules))
    []
    """
    allowed = set(rules["licenses"]["allow"])
    for package in packages:
        name = f"{package['name']} {package['version']}"
        license = package["license"]
        if license is None:
            yield f"{name} has no license"
        elif not is_allowed(license, allowed):
            yield f"{name}: the license '{license}' is not among those of deny.toml"
        source = package["source"]
        kind = "unknown-git" if source and source.startswith("git+") else "unknown-registry"
        if source is not None and source not in CRATES_IO and rules["sources"].get(kind) == "deny":
            yield f"{name} comes from {source}, not from crates.io"
        if package["id"] in members and rules["bans"].get("wildcards") == "deny":
            allows_paths = rules["bans"].get("allow-wildcard-paths", False)
            for needed in package["dependencies"]:
                # Cargo leaves development dependencies by path out of what it publishes.
                is_unpublished = package["publish"] == [] or needed.get("kind") == "dev"
                if needed["req"] == "*" and not (allows_paths and is_unpublished and needed.get("path")):
                    yield f"{name} needs {needed['name']} in any version; name one"


def too_many(package, tree):
    """What the lines of `cargo tree` have and the package must do without.

    >>> too_many("taugraph-cli", ["taugraph-cli v0.1.0 (/a)", "clap v4.6.0", "ureq v3.0.0 (*)"])
    ['taugraph-cli depends on ureq']
    """
    found = {line.split(" ")[0] for line in tree}
    return [f"{package} depends on {name}" for name in sorted(FREE_OF[package] & found)]


def output_of(command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    for section, keys in rules.items():
        unknown = set(keys) - UNDERSTOOD.get(section, set())
        if unknown:
            sys.exit(f"deny.toml: [{section}] {', '.join(sorted(unknown))} is not understood by {Path(__file__).name}")
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    if rules.get("graph", {}).get("all-features"):
        command.append("--all-features")
    metadata = json.loads(output_of(command))
    packages = sorted(metadata["packages"], key=lambda package: (package["name"], package["version"]))
    found = list(problems(packages, set(metadata["workspace_members"]), rules))
    for package in FREE_OF:
        tree = ["cargo", "tree", "--locked", "--package", package, "--edges", "normal", "--target", "all", "--prefix", "none"]
        found += too_many(package, output_of(tree).splitlines())
    versions = {}
    for package in packages:
        versions.setdefault(package["name"], []).append(package["version"])
    twice = [f"{name} {' and '.join(known)}" for name, known in versions.items() if len(known) > 1]
    if twice and rules["bans"].get("multiple-versions") == "deny":
        found += [f"there is {entry}" for entry in twice]
    elif twice:
        print("in several versions:", ", ".join(twice))
    if found:
        sys.exit("\n".join(found))
    print(f"{len(packages)} packages: licenses, sources and versions are as deny.toml wants them")


if __name__ == "__main__":
    main()
