//! `taugraph propagate`: from a column or a file, with flags, margins and errors.

use crate::common::Folder;

/// Two moons; the class of the first and the last row is known.
fn moons() -> Folder {
    let folder = Folder::new();
    folder.ok("generate moons --points 200 --noise 0.03 --seed 1 --output moons.csv");
    let text = folder.read("moons.csv");
    let mut lines: Vec<String> = vec!["id,x,y,truth,known".into()];
    for (row, line) in text.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let truth = if cells[2] == "0" { "up, left" } else { "down" };
        let known = if row == 0 || row == 199 { format!("\"{truth}\"") } else { String::new() };
        lines.push(format!("r{row},{},{},\"{truth}\",{known}", cells[0], cells[1]));
    }
    folder.write("few.csv", lines.join("\n"));
    folder
}

const FEW: &str = "propagate few.csv --labels known --drop truth --id-column id";

#[test]
fn two_labels_are_enough_for_two_moons() {
    let folder = moons();
    for rule in ["harmonic", "poisson", "consistency", "kernel-cosine", "nearest-in-kernel", "greedy-walk"] {
        folder.ok(&format!("{FEW} --rule {rule} --output found.csv --json run.json"));
        let found = folder.read("found.csv");
        assert!(found.starts_with("id,label,margin,flag,p_down,\"p_up, left\"\n"), "{found}");
        let scores = folder.ok("compare few.csv found.csv --first-column truth --second-column label");
        assert!(scores.contains("accuracy           1.000000"), "{rule}: {scores}");
        let json = folder.json("run.json");
        assert_eq!(json["propagation"]["abstained"], 0);
        assert_eq!(json["propagation"]["classes"][0]["name"], "down");
        assert_eq!(json["propagation"]["classes"][0]["labeled"], 1);
    }
    assert!(folder.read("found.csv").lines().nth(1).unwrap().contains(",given,"));
    let walk = &folder.json("run.json")["propagation"]["walk"];
    assert_eq!((&walk["pairs"], &walk["truncation"]), (&walk["all_pairs"], &serde_json::json!(0.0)));
    let done = folder.run(&format!(
        "{FEW} --rule greedy-walk --set propagate.rule.pairs=4 --json cut.json --output cut.csv"
    ));
    assert!(done.err().contains("walks in 4 of 199 eigenpairs"), "{}", done.err());
    let walk = &folder.json("cut.json")["propagation"]["walk"];
    assert_eq!(walk["pairs"], 4);
    assert!((0.0..1.0).contains(&walk["truncation"].as_f64().unwrap()), "{walk}");
    // The same again, from the JSON and from a file of labels.
    folder.ok("propagate --config run.json --output again.csv");
    assert_eq!(folder.read("found.csv"), folder.read("again.csv"));
    folder.write("labels.csv", "id,label\nr0,\"up, left\"\nr199,down\n");
    folder.ok("propagate few.csv --labels-file labels.csv --drop truth,known --id-column id --rule greedy-walk --output file.csv");
    assert_eq!(folder.read("found.csv"), folder.read("file.csv"));
    folder.write("rows.csv", "row,label\n1,\"up, left\"\n200,down\n");
    folder.ok("propagate few.csv --labels-file rows.csv --drop truth,known --id-column id --rule greedy-walk --output rows-found.csv");
    assert_eq!(folder.read("found.csv"), folder.read("rows-found.csv"));
}

#[test]
fn components_of_a_graph_without_a_label_stay_without() {
    let folder = moons();
    folder.ok("graph few.csv --drop truth,known,id --set graph.link_components=no --output graph.npz");
    folder.write("labels.csv", "row,label\n1,a\n2,b\n");
    let done = folder.run("propagate graph.npz --labels-file labels.csv --output out.csv");
    assert_eq!(done.code(), 0, "{}", done.err());
    assert!(done.err().contains("rows are reached by no label and got none"), "{}", done.err());
    let unreached: Vec<String> =
        folder.read("out.csv").lines().filter(|line| line.contains("unreached")).map(String::from).collect();
    assert!(unreached.len() >= 100, "{}", unreached.len());
    assert!(unreached.iter().all(|line| line == ",0.0,unreached,0.0,0.0"), "{:?}", unreached[0]);
    folder.ok("propagate graph.npz --labels-file labels.csv --set propagate.link=yes --output linked.csv");
    assert!(!folder.read("linked.csv").contains("unreached"));
}

#[test]
fn faults_are_named() {
    let folder = moons();
    folder.write("two.csv", "row,label\n1,a\n1,b\n");
    folder.write("unknown.csv", "id,label\nr0,a\nr500,b\n");
    folder.write("far.csv", "row,label\n1,a\n999,b\n");
    folder.write("one.csv", "row,label\n1,a\n");
    folder.write("nolabel.csv", "row,x\n1,a\n");
    let file = "propagate few.csv --drop truth,known --id-column id --labels-file";
    for (line, code, expected) in [
        (format!("{file} two.csv"), 3, "two.csv: row 1 has two labels"),
        (format!("{file} unknown.csv"), 3, "few.csv has no row 'r500'"),
        (format!("{file} far.csv"), 3, "'999' is not a row from 1 to 200"),
        (format!("{file} one.csv"), 3, "at least two classes need labeled rows; there is 'a' only"),
        (format!("{file} nolabel.csv"), 3, "has no column 'label'"),
        (
            "propagate few.csv --labels truth --drop known --id-column id".into(),
            3,
            "every row has a label already",
        ),
        ("propagate few.csv --drop truth,known --id-column id".into(), 2, "no labels were given"),
        (format!("{FEW} --priors up=1,down=1"), 2, "class 'up' has no labeled row"),
        (format!("{FEW} --priors down=1"), 2, "class 'up, left' is missing"),
        (format!("{FEW} --set propagate.rule.alpha=0.5"), 2, "propagate.rule.alpha has no effect"),
        (format!("{FEW} --set propagate.clamping=soft --rule poisson"), 2, "needs harmonic functions"),
        (format!("{FEW} --set propagate.solver.max_iterations=1"), 1, "conjugate gradients did not converge"),
        (format!("{FEW} --output x.npy"), 2, "NPY holds numbers only"),
    ] {
        let done = folder.run(&line);
        assert_eq!(done.code(), code, "{line}: {}", done.err());
        assert!(done.err().contains(expected), "{line}: {}", done.err());
    }
}

#[test]
fn rows_to_label_next_are_suggested() {
    let folder = moons();
    let done = folder.run(&format!("{FEW} --suggest 3 --output found.csv --json run.json"));
    assert_eq!(done.code(), 0, "{}", done.err());
    assert!(done.err().contains("suggest   rows to label next"), "{}", done.err());
    let json = folder.json("run.json");
    let suggested = json["propagation"]["suggestions"].as_array().unwrap();
    assert_eq!(suggested.len(), 3);
    for found in suggested {
        let row = found["row"].as_u64().unwrap();
        assert!((2..200).contains(&row) && found["id"] == format!("r{}", row - 1), "{found}");
        assert!(done.err().contains(&format!("row {row} (r{}): ", row - 1)), "{}", done.err());
    }
    // Without the flag there are none. More rows than have no label are not an error.
    folder.ok(&format!("{FEW} --output found.csv --json run.json"));
    assert_eq!(folder.json("run.json")["propagation"]["suggestions"], serde_json::json!([]));
    folder.ok(&format!("{FEW} --suggest 5000 --output found.csv --json run.json"));
    assert_eq!(folder.json("run.json")["propagation"]["suggestions"].as_array().unwrap().len(), 198);
}

#[test]
fn probabilities_are_calibrated_where_there_are_enough_labels() {
    let folder = Folder::new();
    folder.ok("generate moons --points 300 --noise 0.25 --seed 1 --output moons.csv");
    let command = "evaluate moons.csv --label-column label --trials 10 --json run.json";
    let few = folder.run(command);
    assert!(few.err().contains("not calibrated: a draw has too few labeled rows"), "{}", few.err());
    let many = folder.run(&format!("{command} --per-class 40"));
    assert!(many.err().contains("calibrated on labeled rows left out, temperature"), "{}", many.err());
    assert!(many.out().contains("10 draws of 40 labeled rows for each of 2 classes"), "{}", many.out());
    let evaluation = &folder.json("run.json")["evaluation"];
    assert!(evaluation["temperatures"].as_array().unwrap().iter().all(|t| t.as_f64().unwrap() > 0.0));
    let bins = evaluation["reliability"]["bins"].as_array().unwrap();
    let rows: u64 = bins.iter().map(|bin| bin["rows"].as_u64().unwrap()).sum();
    assert_eq!((bins.len(), rows), (10, 10 * 220));
    let calibrated = evaluation["reliability"]["calibration_error"].as_f64().unwrap();
    assert!(calibrated < 0.1, "{calibrated}");
    // Labels stay the same.
    let accuracies = evaluation["accuracies"].clone();
    folder.ok(&format!("{command} --per-class 40 --set propagate.calibration=no"));
    assert_eq!(folder.json("run.json")["evaluation"]["accuracies"], accuracies);
    // All rows of the smaller class but one; more than there are is not an error.
    folder.ok(&format!("{command} --per-class 1000"));
    let done = folder.run(&format!("{command} --per-class 0"));
    assert!(done.code() == 2 && done.err().contains("must be at least 1"), "{} {}", done.code(), done.err());
}

#[test]
fn evaluate_tries_labeled_rows() {
    let folder = moons();
    let out = folder.ok("evaluate moons.csv --label-column label --trials 20 --json run.json");
    assert!(
        out.starts_with(
            "20 draws of one labeled row for each of 2 classes\naccuracy           1.0000 ± 0.0000\n"
        ),
        "{out}"
    );
    assert!(out.contains("majority           0.5000\ncalibration_error  "), "{out}");
    assert_eq!(folder.json("run.json")["evaluation"]["accuracies"].as_array().unwrap().len(), 20);
    folder.ok("generate moons --points 40 --noise 0.2 --output noisy.csv");
    let exact = folder.ok("evaluate noisy.csv --label-column label --exact --rule greedy-walk");
    assert!(exact.starts_with("all 400 pairs of labeled rows (exact)\n"), "{exact}");
    for (line, code, expected) in [
        ("evaluate moons.csv", 2, "the true labels are needed"),
        ("evaluate few.csv --label-column known --drop truth,id", 3, "data row 2: the label is missing"),
    ] {
        let done = folder.run(line);
        assert_eq!(done.code(), code, "{}", done.err());
        assert!(done.err().contains(expected), "{}", done.err());
    }
}

/// Two equal rows with different labels: each keeps its own, and the note says so.
#[test]
fn copies_with_different_labels_keep_them() {
    let folder = moons();
    let text = folder.read("few.csv");
    let cells: Vec<&str> = text.lines().nth(1).unwrap().splitn(4, ',').collect();
    let copy = |label: &str| format!("{},{},{},t,{label}\n", "c", cells[1], cells[2]);
    let copies = copy("down").replacen('c', "c1", 1) + &copy("\"up, left\"").replacen('c', "c2", 1);
    folder.write("copies.csv", text + "\n" + &copies);
    let done = folder.run("propagate copies.csv --labels known --drop truth --id-column id --output out.csv");
    assert!(done.err().contains("1 groups of equal rows have different labels"), "{}", done.err());
    let out = folder.read("out.csv");
    assert!(out.contains("\nc1,down,1.0,given,1.0,0.0\n"), "{out}");
    assert!(out.contains("\nc2,\"up, left\",1.0,given,0.0,1.0\n"), "{out}");
}

/// A directed graph with loops: refused, or made symmetric on request, and what was changed is said.
#[test]
fn asymmetric_graphs_are_made_symmetric_on_request() {
    let folder = Folder::new();
    let entries = "1 1 3\n1 2 1\n2 1 0.5\n2 3 1\n3 4 0.1\n4 3 0.1\n4 5 1\n5 6 2\n";
    folder.write("g.mtx", format!("%%MatrixMarket matrix coordinate real general\n6 6 8\n{entries}"));
    folder.write("labels.csv", "row,label\n1,a\n6,b\n");
    let done = folder.run("propagate g.mtx --labels-file labels.csv");
    assert_eq!(done.code(), 3, "{}", done.err());
    for kind in ["mean", "larger"] {
        let line = format!("propagate g.mtx --labels-file labels.csv --asymmetric {kind} --output out.csv");
        let done = folder.run(&line);
        assert_eq!(done.code(), 0, "{}", done.err());
        assert!(
            done.err().contains("1 entries on the diagonal of the graph were left out"),
            "{}",
            done.err()
        );
        assert!(done.err().contains("4 pairs of the graph had two different entries"), "{}", done.err());
        let labels: String = folder.read("out.csv").lines().skip(1).map(|line| &line[..1]).collect();
        assert_eq!(labels, "aaabbb");
    }
}
