//! The results of 0.1.0, as hashes: whatever is rebuilt around the method, the same seed gives the same labels and graphs.
//!
//! Where results are meant to change, the test prints the lines to store instead.

use crate::common::Folder;

const STORED: &str = include_str!("stored-results.txt");

/// FNV-1a (Fowler, Noll, Vo).
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// A cell with its number rounded, where that is asked for.
fn cell(text: &str, decimals: Option<usize>) -> String {
    let (Some(decimals), Ok(number)) = (decimals, text.parse::<f64>()) else { return text.to_string() };
    let rounded = format!("{number:.decimals$}");
    match rounded.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| c == '0' || c == '.') => zero.to_string(),
        _ => rounded,
    }
}

/// Whether 0.1.0 wrote no such column.
fn is_new(column: &str) -> bool {
    ["membership", "outlier_score"].contains(&column) || column.starts_with("layer_")
}

/// The cells below the header, in the columns that 0.1.0 wrote.
fn body(csv: &str, decimals: Option<usize>) -> String {
    let old: Vec<bool> = csv.lines().next().unwrap().split(',').map(|column| !is_new(column)).collect();
    let row = |line: &str| {
        let cells = line.split(',').zip(&old).filter(|(_, is_old)| **is_old);
        cells.map(|(text, _)| cell(text, decimals)).collect::<Vec<_>>().join(",")
    };
    csv.lines().skip(1).map(row).collect::<Vec<_>>().join("\n")
}

/// Every third row twice.
fn doubled(csv: &str) -> String {
    let rows = csv.lines().enumerate().map(|(place, line)| match place % 3 == 1 {
        true => format!("{line}\n{line}\n"),
        false => format!("{line}\n"),
    });
    rows.collect()
}

/// Labels of the first and the last row only.
fn few(csv: &str) -> String {
    let last = csv.lines().count() - 1;
    let rows = csv.lines().enumerate().map(|(place, line)| match place {
        0 | 1 => format!("{line}\n"),
        _ if place == last => format!("{line}\n"),
        _ => format!("{},\n", line.rsplit_once(',').unwrap().0),
    });
    rows.collect()
}

/// The rows without negative entries, as svmlight has them.
fn svmlight(csv: &str) -> String {
    let row = |line: &str| {
        let (values, label) = line.rsplit_once(',').unwrap();
        let entries = values.split(',').enumerate().filter(|(_, value)| !value.starts_with('-'));
        let entries: String = entries.map(|(column, value)| format!(" {}:{value}", column + 1)).collect();
        format!("{label}{entries}\n")
    };
    csv.lines().skip(1).map(row).collect()
}

fn without_last_column(csv: &str) -> String {
    csv.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect()
}

#[test]
fn results_are_those_of_0_1_0() {
    let folder = Folder::new();
    folder.ok("generate spirals --points 300 --noise 0.2 --seed 1 --output spirals.csv");
    folder.ok("generate pinwheel --points 500 --seed 2 --output pinwheel.csv");
    folder.ok("generate blobs --points 600 --columns 10 --blobs 4 --seed 3 --output blobs.csv");
    folder.ok("generate blobs --points 60000 --columns 8 --blobs 6 --seed 4 --output many-labeled.csv");
    folder.ok("generate spirals --points 40 --noise 0.3 --seed 5 --output new.csv");
    let spirals = folder.read("spirals.csv");
    folder.write("double.csv", doubled(&spirals));
    folder.write("few.csv", few(&spirals));
    folder.write("few-double.csv", few(&doubled(&spirals)));
    folder.write("points.svm", svmlight(&folder.read("blobs.csv")));
    folder.write("many.csv", without_last_column(&folder.read("many-labeled.csv")));
    folder.ok("graph spirals.csv --label-column label --output graph.mtx --quiet");
    folder.ok("cluster spirals.csv --label-column label --clusters 2 --method spectral --quiet --output c.csv --save-model clusters.safetensors");
    folder.ok("propagate few.csv --labels label --set propagate.background=no --quiet --output l.csv --save-model labels.safetensors");
    let mut changed = Vec::new();
    for line in STORED.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.splitn(3, ' ');
        let (stored, decimals, command) =
            (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let csv = folder.ok(&format!("{command} --quiet"));
        let found = format!("{:016x}", hash(&body(&csv, decimals.parse().ok())));
        if found != stored {
            changed.push(format!("{found} {decimals} {command}"));
        }
    }
    assert!(changed.is_empty(), "other results than 0.1.0:\n{}", changed.join("\n"));
}
