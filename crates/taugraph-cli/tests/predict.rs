//! `--save-model` and `taugraph predict`: new rows by name and by position, labels and clusters, and everything that can be wrong.

use crate::common::Folder;

/// Blobs with names, cut into rows to learn from and new ones; the model of their clusters.
fn blobs() -> Folder {
    let folder = Folder::new();
    folder.ok("generate blobs --points 400 --blobs 3 --columns 4 --seed 2 --output all.csv");
    let text = folder.read("all.csv");
    let mut lines = text.lines();
    let header = lines.next().unwrap().to_string();
    let (mut known, mut new) = (vec![header.clone()], vec![header]);
    for (row, line) in lines.enumerate() {
        if row % 4 == 3 { new.push(line.into()) } else { known.push(line.into()) }
    }
    folder.write("known.csv", known.join("\n") + "\n");
    folder.write("new.csv", new.join("\n") + "\n");
    folder.ok("cluster known.csv --label-column label --clusters 3 --output clusters.csv --save-model m.safetensors");
    folder
}

/// The columns of a table, in another order, with something else before.
fn rearranged(text: &str, order: &[usize]) -> String {
    let line = |(row, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').collect();
        let first = if row == 0 { "extra".to_string() } else { format!("text{row}") };
        let rest: Vec<&str> = order.iter().map(|&place| cells[place]).collect();
        format!("{first},{}\n", rest.join(","))
    };
    text.lines().enumerate().map(line).collect()
}

fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines();
    let place = lines.next().unwrap().split(',').position(|cell| cell == name).unwrap();
    lines.map(|line| line.split(',').nth(place).unwrap().to_string()).collect()
}

#[test]
fn new_rows_get_the_clusters_of_those_like_them() {
    let folder = blobs();
    let done = folder.run(
        "predict m.safetensors new.csv --label-column label --json run.json --output placed.csv --embedding e.npy --graph g.mtx",
    );
    assert_eq!(done.code(), 0, "{}", done.err());
    assert!(done.err().contains("100 rows, placed among 300 nodes of m.safetensors"), "{}", done.err());
    assert_eq!(done.out(), "");
    let placed = folder.read("placed.csv");
    assert!(placed.starts_with("cluster,cluster_margin,outlier,membership,outlier_score,layer_"), "{placed}");
    let json = folder.json("run.json");
    assert_eq!(json["clusters"]["scores"]["nmi"], 1.0, "{}", json["clusters"]["scores"]);
    assert_eq!(json["clusters"]["labels"].as_array().unwrap().len(), 100);
    assert_eq!(json["input"]["by_name"], true);
    assert!(folder.read("g.mtx").starts_with("%%MatrixMarket matrix coordinate real general\n100 300 "));
    // As everything clustered together.
    folder.ok("cluster all.csv --drop label --clusters 3 --output everything.csv");
    let everything = column(&folder.read("everything.csv"), "cluster");
    let of_new: Vec<&String> = everything.iter().skip(3).step_by(4).collect();
    folder.write("of-new.csv", of_new.iter().fold("cluster\n".to_string(), |text, cell| text + cell + "\n"));
    let scores = folder.ok("compare of-new.csv placed.csv --second-column cluster");
    assert!(scores.contains("accuracy           1.000000"), "{scores}");
    // What the model was made from gets what it got.
    let again = folder.run("predict m.safetensors known.csv");
    assert!(again.err().contains("300 rows equal rows of the model"), "{}", again.err());
    assert_eq!(column(&again.out(), "cluster"), column(&folder.read("clusters.csv"), "cluster"));
    // Edges as a list, through a compressed model, on any number of threads.
    folder.ok("cluster known.csv --label-column label --clusters 3 --output clusters.csv --save-model m.safetensors.zst");
    for threads in [1, 2, 4] {
        folder.ok(&format!(
            "predict m.safetensors.zst new.csv --threads {threads} --output {threads}.csv --graph {threads}.parquet"
        ));
        let bytes = |name: String| std::fs::read(folder.file(&name)).unwrap();
        assert!(bytes(format!("{threads}.csv")) == bytes("placed.csv".into()));
        assert!(bytes(format!("{threads}.parquet")) == bytes("1.parquet".into()));
    }
}

#[test]
fn columns_are_matched_by_name_or_by_position() {
    let folder = blobs();
    let expected = folder.ok("predict m.safetensors new.csv");
    let new = folder.read("new.csv");
    folder.write("moved.csv", rearranged(&new, &[3, 1, 4, 0, 2]));
    let done = folder.run("predict m.safetensors moved.csv");
    assert_eq!(done.out(), expected, "{}", done.err());
    assert!(done.err().contains("were left aside: 'extra', 'label'"), "{}", done.err());
    // Names of rows are carried.
    let named = folder.ok("predict m.safetensors moved.csv --id-column extra");
    assert!(
        named.starts_with("extra,cluster,cluster_margin,outlier,membership,") && named.contains("\ntext1,"),
        "{named}"
    );
    // Without names.
    let bare: String = new.lines().skip(1).map(|line| line.to_string() + "\n").collect();
    folder.write("bare.csv", &bare);
    let done = folder.run("predict m.safetensors bare.csv --drop column_5");
    assert_eq!(done.out(), expected, "{}", done.err());
    assert!(done.err().contains("matched by position"), "{}", done.err());
    let done = folder.run_with("predict m.safetensors - --drop column_5", bare.as_bytes());
    assert_eq!(done.out(), expected, "{}", done.err());
    // A column that was constant in the model's table is not asked for.
    let with_constant = |text: &str| -> String {
        text.lines()
            .enumerate()
            .map(|(row, line)| format!("{line},{}\n", if row == 0 { "c" } else { "7" }))
            .collect()
    };
    folder.write("constant.csv", with_constant(&folder.read("known.csv")));
    folder.ok("cluster constant.csv --drop label --clusters 3 --output c.csv --save-model c.safetensors");
    assert_eq!(folder.ok("predict c.safetensors new.csv"), expected);
}

#[test]
fn gaps_are_filled_and_far_rows_flagged() {
    let folder = blobs();
    folder.write("odd.csv", "x4,x3,x2,x1\n1,2,,3\n1e9,-1e9,0,0\nNA,NA,NA,NA\n");
    let done = folder.run("predict m.safetensors odd.csv");
    assert_eq!(done.code(), 0, "{}", done.err());
    assert_eq!(column(&done.out(), "outlier")[1], "1");
    for part in
        ["5 missing cells were filled", "x1, x2, x3, x4", "rows are farther from everything than any row"]
    {
        assert!(done.err().contains(part), "{part}: {}", done.err());
    }
}

#[test]
fn labels_come_by_their_names() {
    let folder = Folder::new();
    folder.ok("generate moons --points 400 --noise 0.04 --seed 1 --output moons.csv");
    folder.ok("generate moons --points 200 --noise 0.04 --seed 2 --output fresh.csv");
    // Names instead of numbers, in every so manieth row.
    let named = |text: String, every: usize| -> String {
        let line = |(row, line): (usize, &str)| {
            let (point, label) = line.rsplit_once(',').unwrap();
            let name = if label == "0" { "\"up, left\"" } else { "down" };
            match row {
                0 => format!("{point},kind\n"),
                _ if row % every == 0 => format!("{point},{name}\n"),
                _ => format!("{point},\n"),
            }
        };
        text.lines().enumerate().map(line).collect()
    };
    folder.write("few.csv", named(folder.read("moons.csv"), 20));
    folder.write("truth.csv", named(folder.read("fresh.csv"), 1));
    folder.ok("propagate few.csv --labels kind --output all.csv --save-model m.safetensors");
    let done =
        folder.run("predict m.safetensors truth.csv --label-column kind --json run.json --output found.csv");
    assert_eq!(done.code(), 0, "{}", done.err());
    let found = folder.read("found.csv");
    assert!(found.starts_with("label,margin,outlier,p_down,\"p_up, left\",outlier_score\n"), "{found}");
    let json = folder.json("run.json");
    assert!(json["labels"]["scores"]["accuracy"].as_f64().unwrap() > 0.99, "{}", json["labels"]["scores"]);
    assert_eq!(json["labels"]["scores"]["rows"], 200);
    assert!(done.err().contains("scores    accuracy"), "{}", done.err());
    let refused = folder.run("predict m.safetensors truth.csv --embedding e.csv --output x.csv");
    assert_eq!((refused.code(), folder.file("x.csv").exists()), (2, false), "{}", refused.err());
    assert_eq!(folder.run("predict m.safetensors truth.csv --output x.npy").code(), 2);

    let info = folder.ok("info m.safetensors");
    for part in [
        "model of taugraph",
        "400 rows",
        "400 nodes, preset robust",
        "2 of 2 used: 'x1', 'x2'",
        "labels    down, up, left",
    ] {
        assert!(info.contains(part), "{part}: {info}");
    }
    folder.ok("info m.safetensors --json info.json");
    assert_eq!(folder.json("info.json")["kind"], "model");
    assert_eq!(folder.json("info.json")["classes"][1], "up, left");
}

/// The same run gives the same model, with principal components and every other distance.
#[test]
fn models_are_the_same_to_the_bit() {
    let folder = blobs();
    for flags in
        ["--pca 3", "--metric cosine", "--metric manhattan --standardize robust", "--preset local-scaling"]
    {
        for (name, threads) in [("a", 1), ("b", 2)] {
            folder.ok(&format!(
                "cluster known.csv --drop label --clusters 3 {flags} --threads {threads} --output {name}.csv --save-model {name}.safetensors"
            ));
        }
        let bytes = |name: &str| std::fs::read(folder.file(name)).unwrap();
        assert!(bytes("a.safetensors") == bytes("b.safetensors"), "{flags}");
        folder.ok("predict a.safetensors new.csv --label-column label --json run.json --output found.csv");
        let accuracy = folder.json("run.json")["clusters"]["scores"]["accuracy"].as_f64().unwrap();
        assert!(accuracy > 0.95, "{flags}: {accuracy}");
        let again = folder.run("predict a.safetensors known.csv");
        assert!(again.err().contains("300 rows equal rows of the model"), "{flags}: {}", again.err());
    }
}

#[test]
fn every_fault_has_its_message_and_exit_code() {
    let folder = blobs();
    let model = std::fs::read(folder.file("m.safetensors")).unwrap();
    let with = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let place = model.windows(from.len()).position(|bytes| bytes == from.as_bytes()).unwrap();
        let mut bytes = model.clone();
        bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    folder.write("future.safetensors", with("\\\"version\\\":4", "\\\"version\\\":9"));
    folder.write("past.safetensors", with("\\\"version\\\":4", "\\\"version\\\":2"));
    folder.write("field.safetensors", with("\\\"n_rows\\\"", "\\\"n_rowz\\\""));
    folder.write("kind.safetensors", with("taugraph model", "taugraph modes"));
    folder.write("metric.safetensors", with("euclidean", "nosuchone"));
    folder.write("cut.safetensors", &model[..model.len() / 2]);
    folder.write("longer.safetensors", [&model[..], b"x"].concat());
    folder.write("empty.csv", "");
    folder.write("text.csv", "x1,x2,x3,x4\n1,2,3,4\n1,two,3,4\n");
    folder.write("narrow.csv", "x1,x2,x4\n1,2,3\n");
    folder.write("bare.csv", "1,2,3\n4,5,6\n");
    folder.write("huge.csv", "x1,x2,x3,x4\n1,2,3,4\n1e200,2,3,4\n");
    folder.write("infinite.csv", "x1,x2,x3,x4\n1,2,inf,4\n");
    folder.write("graph.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 0.5\n");
    for (line, code, expected) in [
        ("predict m.safetensors narrow.csv", 3, "narrow.csv has no column 'x3'; it has 'x1', 'x2', 'x4'"),
        (
            "predict m.safetensors text.csv",
            3,
            "text.csv, line 3, column 'x2': 'two' is not a number; the model was made from numbers",
        ),
        ("predict m.safetensors empty.csv", 3, "empty.csv is empty"),
        ("predict m.safetensors infinite.csv", 3, "infinite.csv, line 2, column 'x3': the value is infinite"),
        ("predict m.safetensors huge.csv", 3, "huge.csv, data row 2: a value is so large"),
        (
            "predict m.safetensors bare.csv",
            3,
            "bare.csv has 3 columns to match by position, but the model was made from 4: 'x1'",
        ),
        ("predict m.safetensors graph.mtx", 3, "graph.mtx is a sparse matrix"),
        ("predict m.safetensors none.csv", 3, "none.csv: there is no such file"),
        ("predict none.safetensors new.csv", 3, "none.safetensors: there is no such file"),
        (
            "predict new.csv new.csv",
            3,
            "new.csv cannot be used as a model: not readable as safetensors: its header claims",
        ),
        (
            "predict empty.csv new.csv",
            3,
            "empty.csv cannot be used as a model: not readable as safetensors: it has no header",
        ),
        (
            "predict cut.safetensors new.csv",
            3,
            "cut.safetensors cannot be used as a model: not readable as safetensors: its header describes",
        ),
        (
            "predict longer.safetensors new.csv",
            3,
            "longer.safetensors cannot be used as a model: not readable as safetensors",
        ),
        (
            "predict future.safetensors new.csv",
            3,
            "the model has version 9, but this taugraph reads version 4; use a newer one",
        ),
        (
            "predict past.safetensors new.csv",
            3,
            "the model has version 2, but this taugraph reads version 4; save the model again",
        ),
        ("info future.safetensors", 3, "the model has version 9"),
        ("predict field.safetensors new.csv", 3, "unknown field `n_rowz`"),
        (
            "predict metric.safetensors new.csv",
            3,
            "Metric = nosuchone: must be euclidean, manhattan or cosine",
        ),
        ("predict kind.safetensors new.csv", 3, "the model's header is malformed: this is not a model"),
        ("cluster m.safetensors", 3, "m.safetensors is not a readable table file: it contains named arrays"),
        ("predict m.safetensors new.csv --label-column nothing", 3, "new.csv has no column 'nothing'"),
        (
            "predict m.safetensors new.csv --label-column x1",
            2,
            "--label-column: 'x1' is a feature of the model",
        ),
        (
            "predict m.safetensors new.csv --id-column outlier",
            2,
            "a column of the output is called 'outlier', too",
        ),
        ("predict m.safetensors new.csv --output new.csv", 2, "--output and the input are the same file"),
        ("predict m.safetensors new.csv --output m.safetensors", 2, "are the same file"),
        ("predict m.safetensors new.csv --output x.xlsx", 4, "no format fits this name"),
        ("predict m.safetensors new.csv --graph x.npy", 4, "no format fits this name"),
        ("predict m.safetensors new.csv --json - --output -", 2, "cannot all go to standard output"),
        ("predict m.safetensors new.csv --memory 1K", 5, "more than the 1 KiB of memory that are allowed"),
        ("predict - -", 2, "cannot both come from standard input"),
        ("predict m.safetensors", 2, "required arguments were not provided"),
        (
            "cluster known.csv --drop label --output x.csv --save-model no/folder/m.safetensors",
            4,
            "cannot be written",
        ),
        (
            "cluster known.csv --drop label --output x.csv --save-model x.csv",
            2,
            "--save-model and --output are the same file",
        ),
        (
            "cluster graph.mtx --output x.csv --save-model y.safetensors",
            2,
            "--save-model needs a table of points",
        ),
        ("propagate graph.mtx --labels-file known.csv --save-model y.safetensors", 3, "known.csv"),
    ] {
        let done = folder.run(line);
        assert_eq!(done.code(), code, "{line}: {}", done.err());
        assert!(done.err().contains(expected), "{line}: {}", done.err());
        assert_eq!(done.out(), "", "{line}: nothing but data goes to standard output");
    }
    assert!(!folder.names().iter().any(|name| name.ends_with(".part") || name.starts_with("x.")));
}

/// A small model cut at every length and with bytes changed all over: refused, or used if it still is a model.
#[test]
fn no_damaged_model_brings_the_program_down() {
    let folder = Folder::new();
    folder.ok("generate blobs --points 12 --blobs 2 --seed 2 --output few.csv");
    folder.ok(
        "cluster few.csv --drop label --neighbors 3 --set graph.estimator.pool=3 --set graph.first_scale.k=3 --clusters 2 --output c.csv --save-model m.safetensors",
    );
    let model = std::fs::read(folder.file("m.safetensors")).unwrap();
    for length in (0..model.len()).step_by(model.len() / 40) {
        folder.write("cut.safetensors", &model[..length]);
        let done = folder.run("predict cut.safetensors few.csv --quiet");
        assert_eq!((done.code(), done.out()), (3, String::new()), "{length}: {}", done.err());
    }
    for place in (0..model.len()).step_by(model.len() / 120) {
        let mut changed = model.clone();
        changed[place] ^= 0x55;
        folder.write("changed.safetensors", changed);
        let done = folder.run("predict changed.safetensors few.csv --quiet --output found.csv");
        assert!(matches!(done.code(), 0 | 3), "byte {place}: {} {}", done.code(), done.err());
    }
}
