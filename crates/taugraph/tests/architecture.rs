//! ARCHITECTURE.md says which module may use which; this test enforces it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Dependencies = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The block fenced as `dependencies` in ARCHITECTURE.md.
fn allowed() -> Dependencies {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let block = text.split("```dependencies\n").nth(1).and_then(|rest| rest.split("```").next());
    block
        .expect("ARCHITECTURE.md has a block of dependencies")
        .lines()
        .map(|line| {
            let (module, used) = line.split_once(':').expect("module: what it may use");
            (module.to_string(), used.split_whitespace().map(str::to_string).collect())
        })
        .collect()
}

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The lines that are not part of a test item, anywhere in the file.
fn without_tests(text: &str) -> Vec<&str> {
    let mut lines = text.lines();
    let mut code = Vec::new();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            code.push(line);
            continue;
        }
        // The item ends with its line, or with the brace that closes it.
        for line in lines.by_ref() {
            if line.ends_with(';') && !line.starts_with(' ') || line == "}" {
                break;
            }
        }
    }
    code
}

#[test]
fn code_after_tests_is_read() {
    let text = "use a;\n#[cfg(test)]\nmod tests;\nuse b;\n#[cfg(test)]\nmod more {\n    use c;\n}\nuse d;";
    assert_eq!(without_tests(text), ["use a;", "use b;", "use d;"]);
}

/// The modules that each module uses, tests excluded.
fn used() -> Dependencies {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&source, &mut files);
    let mut used = Dependencies::new();
    for file in files {
        let inside = file.strip_prefix(&source).unwrap();
        let module = inside.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_string();
        if module == "lib" || inside.ends_with("tests.rs") {
            continue;
        }
        let of_module = used.entry(module.clone()).or_default();
        let text = fs::read_to_string(&file).unwrap();
        let code = without_tests(&text);
        for line in code.into_iter().filter(|line| !line.trim_start().starts_with("//")) {
            for rest in line.split("crate::").skip(1) {
                let name: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                assert!(!name.is_empty(), "{}: name one module in each `use crate::`", file.display());
                if name != module {
                    of_module.insert(name);
                }
            }
        }
    }
    used
}

#[test]
fn modules_use_what_the_map_allows_and_nothing_else() {
    let (allowed, used) = (allowed(), used());
    assert_eq!(
        used.keys().collect::<Vec<_>>(),
        allowed.keys().collect::<Vec<_>>(),
        "modules of the crate and of ARCHITECTURE.md"
    );
    for (module, uses) in &used {
        let forbidden: Vec<_> = uses.difference(&allowed[module]).collect();
        assert!(forbidden.is_empty(), "{module} uses {forbidden:?}, which ARCHITECTURE.md does not allow");
        let unused: Vec<_> = allowed[module].difference(uses).collect();
        assert!(
            unused.is_empty(),
            "ARCHITECTURE.md allows {module} to use {unused:?}, which it no longer does"
        );
    }
}

#[test]
fn the_map_has_no_cycles() {
    let allowed = allowed();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    while done.len() < allowed.len() {
        let next = allowed.iter().find(|(module, uses)| {
            !done.contains(module.as_str()) && uses.iter().all(|name| done.contains(name.as_str()))
        });
        let (module, _) = next.expect("modules depend on each other in a cycle");
        done.insert(module);
    }
}
