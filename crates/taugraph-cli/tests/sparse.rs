//! Sparse points through every command, from every format that holds them.

use crate::common::Folder;

/// Documents of three topics: words of the topic, and a few that all have. The topic is the label.
struct Documents {
    /// Pairs (column, value) of each row, columns counted from 0.
    rows: Vec<Vec<(usize, f64)>>,
    topics: Vec<usize>,
}

const WORDS: usize = 200;
const TOPICS: usize = 3;

impl Documents {
    fn new(n: usize) -> Self {
        // A generator of our own: the file must be the same on every machine.
        let mut state = 12345u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % bound
        };
        let topics: Vec<usize> = (0..n).map(|row| row % TOPICS).collect();
        let rows = topics
            .iter()
            .map(|topic| {
                let mut counts = [0.0; WORDS];
                (0..25).for_each(|_| counts[20 + topic * 60 + below(60)] += 1.0);
                (0..6).for_each(|_| counts[below(20)] += 1.0);
                counts.iter().copied().enumerate().filter(|(_, count)| *count > 0.0).collect()
            })
            .collect();
        Self { rows, topics }
    }

    fn csv(&self) -> String {
        let line = |row: &Vec<(usize, f64)>| {
            let mut cells = vec!["0".to_string(); WORDS];
            row.iter().for_each(|(column, value)| cells[*column] = value.to_string());
            cells.join(",") + "\n"
        };
        self.rows.iter().map(line).collect()
    }

    fn matrix_market(&self) -> String {
        let n_entries: usize = self.rows.iter().map(Vec::len).sum();
        let mut text = format!(
            "%%MatrixMarket matrix coordinate real general\n{} {WORDS} {n_entries}\n",
            self.rows.len()
        );
        for (row, pairs) in self.rows.iter().enumerate() {
            for (column, value) in pairs {
                text += &format!("{} {} {value}\n", row + 1, column + 1);
            }
        }
        text
    }

    /// `label(row)` before the pairs; columns counted from `first`.
    fn svmlight(&self, first: usize, label: impl Fn(usize) -> String) -> String {
        let line = |(row, pairs): (usize, &Vec<(usize, f64)>)| {
            let pairs: Vec<String> =
                pairs.iter().map(|(column, value)| format!("{}:{value}", column + first)).collect();
            format!("{} {}\n", label(row), pairs.join(" "))
        };
        self.rows.iter().enumerate().map(line).collect()
    }

    fn topic(&self, row: usize) -> String {
        self.topics[row].to_string()
    }
}

fn folder() -> (Folder, Documents) {
    let (folder, documents) = (Folder::new(), Documents::new(240));
    folder.write("news.csv", documents.csv());
    folder.write("news.mtx", documents.matrix_market());
    folder.write("news.svm", documents.svmlight(1, |row| documents.topic(row)));
    // Found by what is in it; counted from 0.
    folder.write("news.txt", documents.svmlight(0, |row| format!("{}.0 qid:7", documents.topic(row))));
    (folder, documents)
}

#[test]
fn every_format_gives_the_clusters_of_the_dense_table() {
    let (folder, _) = folder();
    let expected = folder.ok("cluster news.csv --metric cosine --standardize none --clusters 3");
    for line in [
        "cluster news.mtx --clusters 3",
        "cluster news.svm --clusters 3",
        "cluster news.txt --clusters 3",
        "cluster news.svm --input points --metric cosine --standardize none --clusters 3 --threads 1",
    ] {
        assert_eq!(folder.ok(line), expected, "{line}");
    }
    let euclidean = folder.ok("cluster news.csv --standardize none --clusters 3");
    assert_eq!(folder.ok("cluster news.mtx --metric euclidean --clusters 3"), euclidean);
    let scaled = folder.ok("cluster news.csv --metric cosine --standardize max-abs --clusters 3");
    assert_eq!(folder.ok("cluster news.mtx --standardize max-abs --clusters 3"), scaled);
}

#[test]
fn the_report_says_what_was_decided_and_a_config_repeats_it() {
    let (folder, _) = folder();
    let done = folder.run("cluster news.svm --label-column label --json run.json --output labels.csv");
    assert_eq!(done.code(), 0, "{}", done.err());
    assert!(done.err().contains("news.svm: 240 rows, 200 columns, "), "{}", done.err());
    assert!(done.err().contains(" entries, cosine distance"), "{}", done.err());
    assert!(done.err().contains("scores    NMI 1.000"), "{}", done.err());
    assert!(!done.err().contains("no effect"), "{}", done.err());
    let json = folder.json("run.json");
    assert_eq!(json["input"]["metric"], "cosine");
    assert_eq!(json["input"]["standardize"], "none");
    assert_eq!(json["input"]["columns"], 200);
    assert!(json["input"]["entries"].as_u64().unwrap() > 240 * 15);
    assert_eq!(json["clusters"]["count"], 3);
    let again = folder.ok("cluster --config run.json");
    assert_eq!(again, folder.read("labels.csv"));
    // Labels that nobody asked for are no scores.
    assert!(!folder.run("cluster news.svm --clusters 3").err().contains("scores"));
    // A table keeps its own defaults.
    folder.ok("cluster news.csv --clusters 3 --json table.json --output labels.csv");
    let table = folder.json("table.json");
    assert_eq!(table["input"]["metric"], "euclidean");
    assert_eq!(table["input"]["standardize"], "zscore");
}

#[test]
fn graphs_are_the_same_on_any_number_of_threads() {
    let (folder, _) = folder();
    let one = folder.ok("graph news.mtx --threads 1");
    assert!(one.lines().count() > 240);
    for threads in [2, 4] {
        assert!(folder.ok(&format!("graph news.mtx --threads {threads}")) == one, "{threads} threads");
    }
    // A graph that was written is read as a graph, and its rows as points only if that is said.
    folder.ok("graph news.mtx --output g.npz");
    let done = folder.run("graph g.npz");
    assert!(done.err().contains("is a graph already"), "{}", done.err());
    assert!(folder.run("cluster g.npz --clusters 3").err().contains("(given)"));
    let done = folder.run("cluster g.npz --input points --clusters 3");
    assert!(done.err().contains("240 rows, 240 columns"), "{}", done.err());
}

#[test]
fn labels_spread_over_sparse_points() {
    let (folder, documents) = folder();
    let some = documents.svmlight(1, |row| if row < 6 { documents.topic(row) } else { "nan".into() });
    folder.write("some.svm", some);
    let truth = (0..240).fold("label\n".to_string(), |text, row| text + &documents.topic(row) + "\n");
    folder.write("truth.csv", truth);
    folder.write("labels.csv", "row,label\n1,0\n2,1\n3,2\n");
    for line in [
        "propagate some.svm",
        "propagate some.svm --labels label",
        "propagate news.mtx --labels-file labels.csv",
    ] {
        folder.ok(&format!("{line} --output out.csv"));
        let scores = folder.ok("compare truth.csv out.csv --second-column label");
        assert!(scores.contains("nmi                1.0"), "{line}: {scores}");
    }
    // The labels of the file are a labeling, too.
    assert!(folder.ok("compare news.svm truth.csv").contains("nmi                1.0"));
    let tried = folder.ok("evaluate news.svm --trials 5");
    assert!(tried.contains("5 draws of one labeled row for each of 3 classes"), "{tried}");
    assert!(tried.contains("accuracy           1.0000"), "{tried}");
    let done = folder.run("evaluate news.mtx --trials 5");
    assert_eq!(done.code(), 2);
    assert!(done.err().contains("the true labels are needed"), "{}", done.err());
    let done = folder.run("propagate news.svm");
    assert!(done.err().contains("every row has a label already"), "{}", done.err());
}

#[test]
fn info_describes_sparse_points() {
    let (folder, _) = folder();
    let text = folder.ok("info news.svm");
    assert!(text.contains("news.svm: sparse matrix, 240 × 200, "), "{text}");
    assert!(text.contains("labels: 3 different values"), "{text}");
    assert!(text.contains("taken as points: 0 rows are all zero, 200 columns occur"), "{text}");
    assert!(text.contains("memory: at most "), "{text}");
    folder.write("far.svm", "1 4000000000:1\n1\n2 4000000000:1\n2 17:1 4000000000:0\n");
    folder.ok("info far.svm --json far.json");
    let json = folder.json("far.json");
    assert_eq!((json["columns"].as_u64(), json["entries"].as_u64()), (Some(4_000_000_000), Some(4)));
    assert_eq!((json["zero_rows"].as_u64(), json["used_columns"].as_u64()), (Some(1), Some(2)));
    assert_eq!((json["duplicates"].as_u64(), json["longest_row"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn pipes_and_endings_are_understood() {
    let (folder, documents) = folder();
    let expected = folder.ok("cluster news.svm --clusters 3");
    let text = documents.svmlight(1, |row| documents.topic(row));
    assert_eq!(folder.run_with("cluster - --clusters 3", text.as_bytes()).out(), expected);
    // An ending that says so, where no line has a pair.
    folder.write("bare.svm", "1\n2\n");
    let done = folder.run("cluster bare.svm");
    assert!(done.err().contains("bare.svm: no row has an entry"), "{}", done.err());
}

#[test]
fn bad_sparse_input_is_refused() {
    let (folder, documents) = folder();
    let matrix = |sizes: &str, entries: &str| {
        format!("%%MatrixMarket matrix coordinate real general\n{sizes}\n{entries}")
    };
    folder.write("nan.mtx", matrix("2 3 2", "1 2 0.5\n2 3 nan\n"));
    folder.write("zero.mtx", matrix("3 4 2", "1 2 0.5\n3 3 1\n"));
    folder.write("nothing.mtx", matrix("3 4 0", ""));
    folder.write("square.mtx", matrix("2 2 1", "1 2 0.5\n"));
    folder.write("twice.svm", "1 3:1 3:2\n");
    folder.write("descending.svm", "1 3:1\n2 4:1 2:2\n");
    folder.write("words.svm", "1 a b c\n");
    folder.write("beyond.svm", "1 5000000000:1\n");
    folder.write("infinite.svm", "1 1:inf\n");
    folder.write("equal.svm", "1 1:1\n".repeat(30));
    let with_gap = documents.svmlight(1, |row| documents.topic(row)) + "1\n";
    folder.write("gap.svm", with_gap);
    for (line, code, expected) in [
        ("cluster nan.mtx", 3, "nan.mtx: the value in row 1 and column 2 (counted from 0) is NaN"),
        ("cluster zero.mtx --metric cosine", 3, "zero.mtx, data row 2: all features are zero there"),
        ("cluster nothing.mtx --metric cosine", 3, "nothing.mtx, data row 1: all features are zero there"),
        ("cluster nothing.mtx --metric euclidean", 3, "all points are equal"),
        ("cluster square.mtx", 3, "if its rows are points, --input points"),
        ("cluster twice.svm", 3, "line 1: column 3 occurs twice; columns must ascend"),
        ("cluster descending.svm", 3, "line 2: column 2 comes after a higher one"),
        ("cluster words.svm", 3, "line 1: 'a' is not a pair column:value"),
        ("cluster beyond.svm", 3, "line 1: column 5000000000 is beyond the last one possible"),
        ("cluster infinite.svm", 3, "line 1: the value of column 1 is not finite"),
        ("cluster equal.svm", 3, "all points are equal"),
        ("cluster gap.svm --metric cosine", 3, "gap.svm, data row 241: all features are zero there"),
        (
            "cluster news.svm --input graph",
            3,
            "news.svm holds points with labels, not a matrix between points",
        ),
        ("cluster news.mtx --input graph", 3, "news.mtx has 240 rows and 200 columns"),
        ("cluster news.mtx --input distances", 3, "news.mtx has 240 rows and 200 columns"),
        ("cluster news.mtx --metric manhattan", 2, "metric = manhattan: is not available for sparse points"),
        ("cluster news.mtx --pca 5", 2, "pca = 5: principal components need centered columns"),
        (
            "cluster news.mtx --standardize zscore",
            2,
            "standardize = zscore: centering would fill in the zeros",
        ),
        ("cluster news.mtx --label-column label", 2, "--label-column: news.mtx is a sparse matrix"),
        ("cluster news.svm --label-column topic", 3, "no column 'topic'; its labels are called 'label'"),
        ("cluster news.svm --id-column id", 2, "--id-column: news.svm is a sparse matrix"),
        ("cluster news.svm --drop a", 2, "--drop: news.svm is a sparse matrix"),
        ("cluster news.mtx --columns a", 2, "--columns: news.mtx is a sparse matrix"),
        ("cluster news.mtx --memory 1M", 5, "points would fit"),
        ("compare news.svm news.svm --first-column x", 3, "news.svm has no column 'x'; it has 'label'"),
    ] {
        let done = folder.run(line);
        assert_eq!(done.code(), code, "{line}: {}", done.err());
        assert!(done.err().contains(expected), "{line}: {}", done.err());
    }
    // A row of zeros has Euclidean distances, which are taken where no metric was asked for.
    folder.ok("cluster gap.svm --metric euclidean --clusters 3 --output asked.csv");
    let done = folder.run("cluster gap.svm --clusters 3 --output open.csv --json run.json");
    assert!(done.err().contains("1 rows are all zero and have no cosine"), "{}", done.err());
    assert_eq!(folder.json("run.json")["input"]["metric"], "euclidean");
    assert_eq!(folder.read("asked.csv"), folder.read("open.csv"));
}
