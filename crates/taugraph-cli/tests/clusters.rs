//! How many clusters there are and how sure that is, layers, outliers, memberships, pairs and explanations.

use crate::common::Folder;

fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines();
    let place = lines.next().unwrap().split(',').position(|cell| cell == name).unwrap();
    lines.map(|line| line.split(',').nth(place).unwrap().to_string()).collect()
}

/// One blob is one Gaussian.
fn gaussian() -> Folder {
    let folder = Folder::new();
    folder.ok("generate blobs --points 600 --blobs 1 --columns 3 --seed 1 --output one.csv");
    folder
}

/// A grid of separate squares of 40 points each.
fn squares(folder: &Folder, n_columns: u32, n_rows: u32) {
    let mut text = "x,y\n".to_string();
    for square in 0..n_columns * n_rows {
        for point in 0..40u32 {
            let (dx, dy) = (point * 37 % 40, point * 23 % 40);
            let (x, y) = (square % n_columns * 200 + dx, square / n_columns * 200 + dy);
            text += &format!("{x},{y}\n");
        }
    }
    folder.write("squares.csv", text);
}

#[test]
fn one_gaussian_is_one_group() {
    let folder = gaussian();
    let done = folder.run("cluster one.csv --label-column label --json run.json --layers l.csv -o c.csv");
    assert_eq!(done.code(), 0, "{}", done.err());
    assert!(done.err().contains("clusters  1: one group: "), "{}", done.err());
    assert!(column(&folder.read("c.csv"), "cluster").iter().all(|cluster| cluster == "0"));
    assert!(folder.read("l.csv").starts_with("layer_1\n0\n"), "the group is the only layer");
    let clusters = &folder.json("run.json")["clusters"];
    assert_eq!(clusters["count_by_boundaries"]["n_clusters"], 1);
    assert_eq!(clusters["count_by_boundaries"]["evidence"], "none");
    assert_eq!(clusters["layers"].as_array().unwrap().len(), 0);
    assert_eq!((clusters["n_outliers"].as_u64(), clusters["choice"].is_null()), (Some(0), true));
}

#[test]
fn thirty_separate_groups_are_thirty() {
    let folder = Folder::new();
    squares(&folder, 6, 5);
    let done = folder.run("cluster squares.csv --json run.json --layers layers.csv -o c.csv");
    assert_eq!(done.code(), 0, "{}", done.err());
    assert!(done.err().contains("strong evidence for 30 groups"), "{}", done.err());
    let found = column(&folder.read("c.csv"), "cluster");
    for (row, cluster) in found.iter().enumerate() {
        assert_eq!(cluster, &(row / 40).to_string(), "row {row}");
    }
    let clusters = &folder.json("run.json")["clusters"];
    assert_eq!((clusters["count"].as_u64(), clusters["method"].is_string()), (Some(30), true));
    assert_eq!(clusters["count_by_boundaries"]["evidence"], "strong");
    assert_eq!(clusters["count_by_boundaries"]["weakest_boundary"].as_array().unwrap().len(), 2);
    assert!(clusters["choice"]["ratio"].is_number() && clusters["choice"]["chosen"].is_string());
    // Every layer is nested in the one before, and has as many clusters as its name says.
    let layers = folder.read("layers.csv");
    let names: Vec<&str> = layers.lines().next().unwrap().split(',').collect();
    assert!(names.contains(&"layer_30"), "{names:?}");
    for (place, name) in names.iter().enumerate() {
        let own = column(&layers, name);
        let mut distinct = own.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(format!("layer_{}", distinct.len()), *name);
        assert_eq!(clusters["layers"][place]["n_clusters"], distinct.len());
        if place > 0 {
            let coarse = column(&layers, names[place - 1]);
            let mut pairs: Vec<_> = own.iter().zip(&coarse).collect();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), distinct.len(), "{name} is not nested");
        }
    }
}

#[test]
fn the_number_stays_within_its_limits() {
    let folder = Folder::new();
    squares(&folder, 3, 2);
    for (flags, expected) in [
        ("", 6),
        ("--max-clusters 4", 4),
        ("--min-clusters 7", 7),
        ("--clusters 3 --method agglomerate", 3),
        ("--method spectral", 6),
    ] {
        let done = folder.run(&format!("cluster squares.csv --json - {flags}"));
        let json: serde_json::Value = serde_json::from_str(&done.out()).unwrap();
        assert_eq!(json["clusters"]["count"], expected, "{flags}: {}", done.err());
        let is_limited = flags.contains("-clusters ") && !flags.contains("method");
        assert_eq!(
            done.err().contains("because of min_clusters or max_clusters"),
            is_limited,
            "{}",
            done.err()
        );
    }
    let json: serde_json::Value =
        serde_json::from_str(&folder.ok("cluster squares.csv --json - --method agglomerate")).unwrap();
    assert_eq!(json["clusters"]["method"], "agglomerate");
    assert_eq!(json["clusters"]["eigenvalues"].as_array().unwrap().len(), 0, "nothing needed them");
}

#[test]
fn outliers_get_no_cluster() {
    let folder = gaussian();
    let plain = folder.ok("cluster one.csv --drop label");
    assert!(!plain.contains("-1"));
    assert_eq!(folder.ok("cluster one.csv --drop label --outliers none"), plain);
    let done =
        folder.run("cluster one.csv --drop label --outliers 0.05 --memberships --json run.json -o c.csv");
    assert_eq!(done.code(), 0, "{}", done.err());
    assert!(done.err().contains("outliers  30 of 600 rows"), "{}", done.err());
    let found = column(&folder.read("c.csv"), "cluster");
    assert_eq!(found.iter().filter(|cluster| *cluster == "-1").count(), 30);
    let json = folder.json("run.json");
    assert_eq!(json["clusters"]["n_outliers"], 30);
    let labels: Vec<String> =
        json["labels"].as_array().unwrap().iter().map(|label| label.to_string()).collect();
    assert_eq!(labels, found);
    // They are the rows with the highest scores.
    let scores: Vec<f64> =
        column(&folder.read("c.csv"), "outlier_score").iter().map(|score| score.parse().unwrap()).collect();
    let of = |is_outlier: bool| {
        scores
            .iter()
            .zip(&found)
            .filter(move |(_, label)| (*label == "-1") == is_outlier)
            .map(|(score, _)| *score)
    };
    assert!(of(true).fold(f64::INFINITY, f64::min) > of(false).fold(0.0, f64::max));
    // The settings are repeated with the run.
    assert_eq!(folder.ok("cluster --config run.json --memberships"), folder.read("c.csv"));
    // Two rows far from all others stand out by themselves.
    let far = folder.read("one.csv") + "100,100,100,0\n-80,90,-70,0\n";
    folder.write("far.csv", far);
    let found = column(&folder.ok("cluster far.csv --drop label --outliers auto"), "cluster");
    assert_eq!(found[600..], ["-1", "-1"]);
    assert!(found.iter().filter(|cluster| *cluster == "-1").count() < 20);
}

#[test]
fn memberships_sum_to_one() {
    let folder = Folder::new();
    folder.ok("generate blobs --points 300 --blobs 3 --seed 2 --output blobs.csv");
    let text = folder.ok("cluster blobs.csv --drop label --clusters 3 --memberships");
    assert!(text.starts_with("cluster,membership_0,membership_1,membership_2,outlier_score\n"), "{text}");
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!((cells[1..4].iter().sum::<f64>() - 1.0).abs() < 1e-9, "{line}");
        assert!(cells[1 + cells[0] as usize] > 0.3, "{line}");
    }
    // A given graph has no scales and so no outlier scores.
    folder.ok("graph blobs.csv --drop label -o graph.npz");
    let text = folder.ok("cluster graph.npz --clusters 3 --memberships");
    assert!(text.starts_with("cluster,membership_0,membership_1,membership_2\n"), "{text}");
}

#[test]
fn pairs_are_honored() {
    let folder = Folder::new();
    squares(&folder, 2, 2);
    let free = column(&folder.ok("cluster squares.csv"), "cluster");
    assert_ne!(free[0], free[45]);
    assert_eq!(free[0], free[1]);
    folder.write("must.csv", "first,second\n0,45\n");
    folder.write("cannot.csv", "0,1\n45,1\n");
    let line = "cluster squares.csv --must-link must.csv --cannot-link cannot.csv --json run.json -o c.csv";
    let done = folder.run(line);
    assert_eq!(done.code(), 0, "{}", done.err());
    let found = column(&folder.read("c.csv"), "cluster");
    assert_eq!(found[0], found[45]);
    assert_ne!(found[0], found[1]);
    assert_eq!(folder.json("run.json")["settings"]["pairs"]["must_link"], "must.csv");
    assert_eq!(folder.ok("cluster --config run.json"), folder.read("c.csv"), "pairs belong to the settings");
    // Checkpoints belong to the pairs, too.
    folder.ok(&format!("{line} --checkpoints work"));
    folder.write("must.csv", "0,46\n");
    let done = folder.run(&format!("{line} --checkpoints work"));
    assert_eq!(done.code(), 2, "{}", done.err());
}

#[test]
fn pairs_that_cannot_be_are_refused() {
    let folder = Folder::new();
    squares(&folder, 2, 1);
    for (name, text) in [
        ("good.csv", "0,1\n"),
        ("chain.csv", "i,j\n0,7\n7,9\n"),
        ("apart.csv", "9,0\n"),
        ("text.csv", "i,j\n0,1\n2,x\n"),
        ("first.csv", "0,x\n1,2\n"),
        ("range.csv", "i,j\n0,1\n2,80\n"),
        ("negative.csv", "0,1\n-1,2\n"),
        ("half.csv", "0,1\n1,2.5\n"),
        ("missing.csv", "0,1\n1,\n"),
        ("three.csv", "0,1,2\n"),
        ("one.csv", "0\n1\n"),
        ("empty.csv", ""),
        ("header.csv", "i,j\n"),
        ("ragged.csv", "0,1\n2\n"),
    ] {
        folder.write(name, text);
    }
    for (flags, code, expected) in [
        (
            "--must-link chain.csv --cannot-link apart.csv",
            3,
            "the pair of rows 9 and 0: the rows must not share",
        ),
        ("--must-link text.csv", 3, "text.csv, line 3, column 'j': 'x' is not a number; the number of a row"),
        ("--must-link first.csv", 3, "first.csv, line 1: a header beside the number 0"),
        ("--must-link range.csv", 3, "range.csv, line 3: there is no row 80; squares.csv has rows 0 to 79"),
        ("--cannot-link range.csv", 3, "range.csv, line 3: there is no row 80"),
        ("--must-link negative.csv", 3, "negative.csv, line 2: there is no row -1"),
        ("--must-link half.csv", 3, "half.csv, line 2: 2.5 is not the number of a row"),
        ("--must-link missing.csv", 3, "missing.csv, line 2: a row is missing"),
        ("--must-link three.csv", 3, "three.csv has 3 columns; pairs have two"),
        ("--must-link one.csv", 3, "one.csv has 1 column; pairs have two"),
        ("--must-link empty.csv", 3, "empty.csv is empty"),
        ("--must-link header.csv", 3, "header.csv has a header, but no rows"),
        ("--must-link ragged.csv", 3, "ragged.csv, line 2: 1 cells, but the first line has 2"),
        ("--must-link none.csv", 3, "none.csv: there is no such file"),
        ("--must-link - --cannot-link -", 2, "cannot all come from standard input"),
        ("--must-link good.csv -o good.csv", 2, "are the same file"),
        (
            "--must-link good.csv --method spectral",
            2,
            "cluster.method = spectral: must be agglomerate or auto",
        ),
        ("--cannot-link good.csv --clusters 1", 3, "leave more clusters than requested"),
        ("--outliers 1.5", 2, "none, auto or a share of the rows between 0 and 1"),
        ("--outliers some", 2, "none, auto or a share of the rows between 0 and 1"),
        ("--method kmeans", 2, "possible values: auto, spectral, agglomerate"),
        ("--max-clusters 1", 2, "cluster.max_clusters = 1: must be at least 2"),
        ("--min-clusters 5 --max-clusters 4", 2, "must be at most cluster.max_clusters"),
        ("--layers l.csv --method spectral --clusters 2", 2, "spectral clustering alone has no layers"),
        ("--embedding e.csv --method agglomerate", 2, "--method spectral has one"),
        ("--id-column layer_2", 2, "a column of the output is called 'layer_2'"),
    ] {
        let done = folder.run(&format!("cluster squares.csv {flags}"));
        assert_eq!(done.code(), code, "{flags}: {}", done.err());
        assert!(done.err().contains(expected), "{flags}: {}", done.err());
        assert_eq!(done.out(), "", "{flags}");
    }
    folder.ok("graph squares.csv -o graph.npz");
    for (flags, expected) in [
        ("--outliers auto", "a given graph has no local scales"),
        ("--explain", "--explain needs a dense table of points"),
    ] {
        let done = folder.run(&format!("cluster graph.npz {flags}"));
        assert_eq!(done.code(), 2, "{}", done.err());
        assert!(done.err().contains(expected), "{}", done.err());
    }
}

#[test]
fn clusters_are_explained() {
    let folder = Folder::new();
    squares(&folder, 2, 1);
    let done = folder.run("cluster squares.csv --stability=3 --explain --json run.json -o c.csv");
    assert_eq!(done.code(), 0, "{}", done.err());
    for part in [
        "clusters  2: strong evidence for 2 groups",
        "method    spectral, because agglomeration is not clearly better (normalized cut r = 1.00 of the spectral one, modularity",
        "layers    2 clusters (resistance ",
        "over 3 drawn graphs, 0 nodes below 0.8; by cluster 1.00, 1.00",
        "cluster 0: 40 rows, typical ones ",
        "x: mean 19.5, elsewhere 219.5 (-2.0 standard deviations)",
        "rule: x <= 119.5",
        "(precision 1.00, recall 1.00)",
    ] {
        assert!(done.err().contains(part), "{part}: {}", done.err());
    }
    let json = folder.json("run.json");
    let first = &json["clusters"]["explanations"][0];
    assert_eq!((first["size"].as_u64(), first["columns"][0]["column"].as_str()), (Some(40), Some("x")));
    assert_eq!(
        (first["rule"]["precision"].as_f64(), first["rule"]["recall"].as_f64()),
        (Some(1.0), Some(1.0))
    );
    assert_eq!(first["rule"]["conditions"][0]["column"], "x");
    assert_eq!(
        (json["stability"]["failed"].as_u64(), json["stability"]["clusters"][0].as_f64()),
        (Some(0), Some(1.0))
    );
    // Unasked, JSON has them and people do not.
    let done = folder.run("cluster squares.csv --json -");
    assert!(!done.err().contains("cluster 0:"), "{}", done.err());
    let again: serde_json::Value = serde_json::from_str(&done.out()).unwrap();
    assert_eq!(again["clusters"]["explanations"], json["clusters"]["explanations"]);
}

#[test]
fn new_rows_get_layers_memberships_and_scores() {
    let folder = Folder::new();
    squares(&folder, 3, 2);
    folder.ok("cluster squares.csv --save-model m.safetensors --layers layers.csv --memberships -o c.csv");
    let layers = folder.read("layers.csv");
    let names = layers.lines().next().unwrap().to_string();
    let placed = folder.ok("predict m.safetensors squares.csv --json run.json");
    let header = placed.lines().next().unwrap();
    assert_eq!(header, format!("cluster,cluster_margin,outlier,membership,outlier_score,{names}"));
    // Known rows get what they have.
    for name in names.split(',') {
        assert_eq!(column(&placed, name), column(&layers, name), "{name}");
    }
    let known = folder.read("c.csv");
    let of_cluster =
        |(row, cluster): (usize, String)| column(&known, &format!("membership_{cluster}"))[row].clone();
    let own: Vec<String> = column(&known, "cluster").into_iter().enumerate().map(of_cluster).collect();
    assert_eq!(column(&placed, "membership"), own);
    let number = |text: String| text.parse::<f64>().unwrap();
    let (found, fitted) = (column(&placed, "outlier_score"), column(&known, "outlier_score"));
    for (found, fitted) in found.into_iter().zip(fitted) {
        assert!((number(found) - number(fitted)).abs() < 1e-9);
    }
    // A new row in the middle of a square, and one far from everything.
    folder.write("new.csv", "x,y\n220,20\n100,5000\n");
    let placed = folder.ok("predict m.safetensors new.csv --json run.json -o - --quiet");
    assert_eq!(column(&placed, "cluster")[0], "1");
    assert_eq!(column(&placed, "membership")[0], "1.0");
    let scores: Vec<f64> = column(&placed, "outlier_score").into_iter().map(number).collect();
    assert!(scores[0] < 2.0 && scores[1] > 3.0, "{scores:?}");
    let json = folder.json("run.json");
    assert_eq!(json["clusters"]["memberships"][0], 1.0);
    assert_eq!(json["clusters"]["layers"].as_array().unwrap().len(), names.split(',').count());
    assert_eq!(json["outlier_scores"].as_array().unwrap().len(), 2);
}

#[test]
fn small_tables_are_compared_with_plain_local_scaling() {
    let folder = Folder::new();
    folder.ok("generate blobs -n 200 --seed 1 -o points.csv");
    let done = folder.run("cluster points.csv --label-column label -o labels.csv --json found.json");
    assert_eq!(done.code(), 0, "{}", done.err());
    let found: serde_json::Value = serde_json::from_str(&folder.read("found.json")).unwrap();
    let agreement = found["clusters"]["agreement_with_local_scaling"].as_f64().unwrap();
    assert!((-1.0..=1.0).contains(&agreement), "{agreement}");
    assert!(done.err().contains("with plain local scaling they"), "{}", done.err());
}
