//! Every shell line of the README and of the demo, run in order in one folder.

use crate::common::Folder;

const README: &str = include_str!("../../../README.md");

/// The lines of all `sh` blocks.
fn lines() -> Vec<&'static str> {
    let blocks = README.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.flat_map(str::lines).filter(|line| !line.trim().is_empty()).collect()
}

#[test]
fn the_readme_tells_the_truth() {
    let folder = Folder::new();
    let lines = lines();
    assert!(lines.len() >= 7, "{lines:?}");
    for line in lines {
        let arguments = line
            .strip_prefix("cargo run --release -- ")
            .or_else(|| line.strip_prefix("taugraph "))
            .unwrap_or_else(|| panic!("not a command of ours: {line}"));
        folder.ok(arguments);
    }
    assert_eq!(folder.read("clusters.csv"), folder.read("again.csv"));
}
