//! The commands, their files, and that they say what the library says.

use crate::common::{Folder, TAUGRAPH};
use taugraph::cluster::{ClusterParams, spectral_clustering};
use taugraph::distance::Metric;
use taugraph::generators::{SpiralDensity, add_noise, two_spirals};
use taugraph::neighbors::Space;
use taugraph::params::Preset;
use taugraph::points::{PreparationParams, prepare};
use taugraph::progress::Run;
use taugraph::robust::robust_graph;

fn spirals() -> Folder {
    let folder = Folder::new();
    folder.ok("generate spirals --points 300 --noise 0.1 --share 0.5 --seed 3 --output spirals.csv");
    folder
}

#[test]
fn the_program_says_what_the_library_says() {
    let folder = spirals();
    let clean = two_spirals(300, SpiralDensity::UniformAngle, 3).unwrap();
    let data = add_noise(&clean, 0.1, 0.5, 3).unwrap();
    let written = folder.read("spirals.csv");
    let first = written.lines().nth(1).unwrap();
    assert_eq!(first, format!("{:?},{:?},0", data.points.row(0).get(0), data.points.row(0).get(1)));

    let run = Run::new(5);
    let prepared = prepare(data.points.values(), 2, &PreparationParams::default(), &run).unwrap();
    let space = Space::from_points(prepared.points, Metric::Euclidean).unwrap();
    let robust = robust_graph(&space, &Preset::Robust.params().check().unwrap(), &run).unwrap();
    let clustering = spectral_clustering(&robust.graph, &ClusterParams::default(), &run).unwrap();

    let out = folder.ok(
        "cluster spirals.csv --label-column label --seed 5 --json run.json --scales scales.csv --graph edges.csv \
         --method spectral --set cluster.count=eigengap",
    );
    let labels: Vec<u32> = out.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert_eq!(labels, robust.duplicates.restore(&clustering.labels));
    let json = folder.json("run.json");
    let bits = |values: &serde_json::Value| -> Vec<u64> {
        values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap().to_bits()).collect()
    };
    let own: Vec<u64> = clustering.eigengap.eigenvalues().iter().map(|value| value.to_bits()).collect();
    assert_eq!(bits(&json["clusters"]["eigenvalues"]), own);
    assert_eq!(json["graph"]["edges"], robust.graph.n_edges());
    let scales: Vec<String> = folder
        .read("scales.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap().into())
        .collect();
    assert_eq!(scales, robust.scales.values().iter().map(|scale| format!("{scale:?}")).collect::<Vec<_>>());
    let edges = folder.read("edges.csv");
    assert_eq!(edges.lines().count(), 1 + robust.graph.n_edges());
    let weight = edges.lines().nth(1).unwrap().split(',').nth(2).unwrap().to_string();
    assert_eq!(weight, format!("{:?}", robust.graph.weights()[0]));
}

/// Everything but the times.
fn without_times(folder: &Folder, name: &str) -> serde_json::Value {
    let mut json = folder.json(name);
    for measured in ["seconds", "total", "memory"] {
        json.as_object_mut().unwrap().remove(measured);
    }
    json
}

#[test]
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn every_stage_says_what_it_cost() {
    let folder = spirals();
    folder.ok("cluster spirals.csv --label-column label --threads 2 --json run.json --output labels.csv --save-model model.safetensors");
    folder.ok("predict model.safetensors spirals.csv --threads 2 --json predict.json --output placed.csv");
    for (name, least) in [("run.json", 5), ("predict.json", 1)] {
        let json = folder.json(name);
        let stages = json["seconds"].as_array().unwrap();
        assert!(stages.len() >= least, "{stages:?}");
        let total = &json["total"];
        assert_eq!(total["threads"], 2);
        for cost in stages.iter().chain([total]) {
            let number = |key: &str| cost[key].as_f64().unwrap_or_else(|| panic!("{key} of {cost}"));
            let share = number("cpu_seconds") / (2.0 * number("seconds"));
            assert!((number("parallel_efficiency") - share).abs() <= 1e-9 * share.max(1.0), "{cost}");
        }
        for key in ["seconds", "cpu_seconds"] {
            let sum: f64 = stages.iter().map(|cost| cost[key].as_f64().unwrap()).sum();
            assert!((total[key].as_f64().unwrap() - sum).abs() < 1e-9, "{key}");
        }
    }
}

#[test]
fn a_run_is_repeated_from_its_json() {
    let folder = spirals();
    folder.ok(
        "cluster spirals.csv --label-column label --preset paper --set graph.estimator.hidden=20 --set graph.estimator.schedule.steps=40 --seed 9 --stability=2 \
         --standardize minmax --clusters 3 --method spectral --set cluster.laplacian=random-walk --output a.csv --json a.json --graph a.npz \
         --embedding a.npy",
    );
    folder.ok("cluster --config a.json --output b.csv --json b.json --graph b.npz --embedding b.npy");
    for (a, b) in [("a.csv", "b.csv"), ("a.npz", "b.npz"), ("a.npy", "b.npy")] {
        assert!(std::fs::read(folder.file(a)).unwrap() == std::fs::read(folder.file(b)).unwrap(), "{a}");
    }
    assert_eq!(without_times(&folder, "a.json"), without_times(&folder, "b.json"));
    // A flag beside it wins.
    folder.ok("cluster --config a.json --clusters 2 --output c.csv --json c.json");
    assert_eq!(folder.json("c.json")["clusters"]["count"], 2);
    assert_eq!(folder.json("c.json")["settings"]["params"]["seed"], 9);
}

#[test]
fn training_pairs_are_chosen_kept_and_default_in_older_files() {
    let folder = spirals();
    let command = "cluster spirals.csv --label-column label --neighbors 10 --seed 2";
    for (estimator, iterations) in [("auto-encoder", "schedule.steps"), ("factorization", "max_iterations")] {
        let with = |flags: &str| {
            folder.ok(&format!(
                "{command} --set graph.estimator={estimator} --set graph.estimator.{iterations}=5 {flags} --json run.json --graph run.npz"
            ));
            (folder.json("run.json"), std::fs::read(folder.file("run.npz")).unwrap())
        };
        let pairs =
            |json: &serde_json::Value| json["settings"]["params"]["graph"]["estimator"]["pairs"].clone();
        let (sampled, sampled_graph) =
            with("--set graph.estimator.pairs=sampled --set graph.estimator.pairs.per_edge=2");
        assert_eq!(pairs(&sampled), serde_json::json!({"kind": "sampled", "per_edge": 2.0}));
        folder.ok("cluster --config run.json --graph again.npz");
        assert!(std::fs::read(folder.file("again.npz")).unwrap() == sampled_graph);
        let (all, all_graph) = with("--set graph.estimator.pairs=all");
        assert_eq!(pairs(&all), "all");
        assert!(all_graph != sampled_graph);
        // 300 points are few: the default is all pairs.
        let (mut automatic, automatic_graph) = with("");
        assert_eq!(pairs(&automatic), "automatic");
        assert!(automatic_graph == all_graph);
        let settings = &mut automatic["settings"]["params"]["graph"]["estimator"];
        settings.as_object_mut().unwrap().remove("pairs");
        folder.write("older.json", automatic.to_string());
        folder.ok("cluster --config older.json --graph older.npz");
        assert!(std::fs::read(folder.file("older.npz")).unwrap() == all_graph);
    }
}

#[test]
fn files_do_not_depend_on_the_threads() {
    let folder = spirals();
    for threads in [1, 2, 4] {
        folder.ok(&format!(
            "cluster spirals.csv --label-column label --stability=3 --threads {threads} --output {threads}.parquet \
             --json {threads}.json --graph {threads}.npz --scales {threads}.npy"
        ));
    }
    for kind in ["parquet", "npz", "npy"] {
        let of = |threads: usize| std::fs::read(folder.file(&format!("{threads}.{kind}"))).unwrap();
        assert!(of(1) == of(2) && of(1) == of(4), "{kind}");
    }
    assert_eq!(without_times(&folder, "1.json"), without_times(&folder, "4.json"));
}

#[test]
fn every_format_gives_the_same_clusters() {
    let folder = spirals();
    let expected = folder.ok("cluster spirals.csv --drop label");
    for name in ["s.tsv", "s.csv.gz", "s.csv.zst", "s.parquet", "s.npy"] {
        folder.ok(&format!("generate spirals --points 300 --noise 0.1 --share 0.5 --seed 3 --output {name}"));
        let label = if name == "s.npy" { "column_3" } else { "label" };
        assert_eq!(folder.ok(&format!("cluster {name} --drop {label}")), expected, "{name}");
        let bytes = std::fs::read(folder.file(name)).unwrap();
        let piped = folder.run_with(&format!("cluster - --drop {label}"), &bytes);
        assert_eq!(piped.out(), expected, "{name} on standard input: {}", piped.err());
    }
    // A graph that was written is clustered as it is.
    for name in ["g.npz", "g.mtx"] {
        folder.ok(&format!("graph spirals.csv --drop label --output {name}"));
        assert_eq!(folder.ok(&format!("cluster {name} --clusters 2")), expected, "{name}");
    }
}

#[test]
fn names_of_rows_are_carried_through() {
    let folder = Folder::new();
    let rows =
        (0..60).map(|i| format!("\"row, {i}\",{},{}\n", f64::from(i / 30) * 9.0 + f64::from(i % 7), i % 5));
    folder.write("named.csv", "name,x,y\n".to_string() + &rows.collect::<String>());
    let out = folder.ok("cluster named.csv --id-column name -c 2 --stability");
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("name,cluster,stability"));
    assert!(lines.next().unwrap().starts_with("\"row, 0\",0,"));
}

#[test]
fn duplicates_share_their_cluster_and_stay_in_the_graph() {
    let folder = Folder::new();
    let rows: String = (0..80).map(|i| format!("{},{}\n", i % 40, (i % 40) * (i % 40) % 13)).collect();
    folder.write("twice.csv", rows);
    let done = folder.run("cluster twice.csv -c 3 --graph g.mtx");
    assert!(done.err().contains("40 duplicate rows share a node"), "{}", done.err());
    let labels: Vec<String> = done.out().lines().skip(1).map(String::from).collect();
    assert_eq!(labels[..40], labels[40..]);
    assert!(folder.read("g.mtx").lines().nth(1).unwrap().starts_with("80 80 "));
}

#[test]
fn precomputed_distances_give_the_clusters_of_the_points() {
    let folder = spirals();
    let expected = folder.ok("cluster spirals.csv --drop label --standardize none");
    let points: Vec<Vec<f64>> = folder
        .read("spirals.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(2).map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let rows: String = points
        .iter()
        .map(|a| {
            let row = points.iter().map(|b| format!("{:?}", (a[0] - b[0]).hypot(a[1] - b[1])));
            row.collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    folder.write("distances.csv", rows);
    assert_eq!(folder.ok("cluster distances.csv --input distances"), expected);
}

#[test]
fn compare_prints_every_metric() {
    let folder = Folder::new();
    folder.write("truth.csv", "label,x\na,1\na,2\nb,3\nb,4\n,5\n");
    folder.write("found.csv", "cluster\n1\n1\n0\n1\n0\n");
    let out = folder.ok("compare truth.csv found.csv");
    for line in [
        "nmi                0.343711",
        "accuracy           0.750000",
        "balanced_accuracy  0.750000",
        "rows               4",
    ] {
        assert!(out.contains(line), "{out}");
    }
    folder.ok("compare truth.csv found.csv --json scores.json");
    assert_eq!(folder.json("scores.json")["rows"], 4);
    let same = folder.ok("compare found.csv found.csv");
    assert!(same.contains("ari                1.000000"), "{same}");
}

#[test]
fn info_says_what_would_be_read() {
    let folder = Folder::new();
    folder.write("mixed.csv", "id,x,c,name\n1,0.5,7,ann\n2,,7,bob\n3,2.5,7,ann\n1,0.5,7,cy\n");
    let out = folder.ok("info mixed.csv --label-column name");
    for part in [
        "4 rows, 4 columns",
        "constant, will be left out",
        "3 different values",
        "1 rows are copies",
        "memory: at most",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    folder.ok("info mixed.csv --json info.json");
    let json = folder.json("info.json");
    assert_eq!(json["columns"][1]["missing"], 1);
    assert_eq!(json["columns"][3]["type"], "text");
    assert!(json["columns"][3]["note"].as_str().unwrap().contains("'ann' in line 2"));
}

#[test]
fn the_demo_writes_its_figures() {
    let folder = Folder::new();
    let out = folder.ok("demo --json demo.json");
    assert!(out.contains("robust graph") && out.contains("Try next"), "{out}");
    let json = folder.json("demo.json");
    for file in json["files"].as_array().unwrap() {
        let bytes = std::fs::read(folder.file(file.as_str().unwrap())).unwrap();
        let is_png = bytes.starts_with(b"\x89PNG\r\n");
        let is_svg = bytes.starts_with(b"<svg ") && bytes.ends_with(b"</svg>\n");
        assert!(is_png || is_svg, "{file}");
    }
    for name in [
        "input",
        "graph-tau-0.1",
        "graph-tau-0.3",
        "graph-tau-0.7",
        "decay",
        "stochastic-graph",
        "clusters-local-scaling",
        "clusters-robust",
        "overview",
    ] {
        assert!(folder.file("taugraph-demo").join(format!("{name}.png")).exists(), "{name}");
    }
    // The commands that it proposes work.
    folder.ok("cluster taugraph-demo/spirals.csv --label-column label");
    folder.ok("cluster taugraph-demo/spirals.csv --label-column label --preset local-scaling");
    // The whole story is that of the robust graph being better; it is told as measured, whatever it is.
    let of = |row: usize| json["nmi"][row]["seeds"].as_array().unwrap().len();
    assert_eq!((of(0), of(1), of(2)), (10, 10, 10));
}

#[test]
fn help_is_short_and_complete() {
    let folder = Folder::new();
    let short = folder.ok("cluster -h");
    let long = folder.ok("cluster --help");
    assert!(short.lines().count() < 70, "{short}");
    assert!(!short.contains("--embedding") && long.contains("--embedding"));
    let params = folder.ok("params");
    assert!(params.contains("cluster.kmeans.max_rounds = 300\n    whole number, at least 1"), "{params}");
    assert!(params.contains("graph.estimator.floor = 0.5  (with graph.estimator = community)"), "{params}");
    assert!(folder.ok("params graph.threshold --preset paper").starts_with("graph.threshold = 0.6\n"));
    folder.ok("params --json params.json");
    assert!(folder.json("params.json").as_array().unwrap().iter().any(|one| one["path"] == "metric"));
    assert!(folder.ok("--help").contains("Exit codes"));
    assert!(folder.ok("completions bash").contains("_taugraph"));
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        assert!(folder.ok(&format!("completions {shell}")).contains("taugraph"));
    }
    folder.ok("man pages");
    let page = folder.read("pages/taugraph-cluster.1");
    assert!(page.contains(".TH") && page.contains("label\\-column"), "{page}");
    assert!(folder.file("pages/taugraph.1").exists());
}

#[test]
fn quiet_is_quiet_and_stdout_is_data() {
    let folder = spirals();
    let done = folder.run("cluster spirals.csv --drop label --quiet");
    assert_eq!(done.err(), "");
    assert!(done.out().starts_with("cluster\n"));
    let json = folder.run("cluster spirals.csv --drop label --json -");
    let value: serde_json::Value = serde_json::from_str(&json.out()).unwrap();
    assert_eq!(value["labels"].as_array().unwrap().len(), 300);
    // Not a terminal: no bars, no color.
    assert!(!json.err().contains('\u{1b}'), "{:?}", json.err());
}

/// Ctrl-C in the middle of a long run.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.ok("generate spirals --points 3000 --output spirals.csv");
    let child = std::process::Command::new(TAUGRAPH)
        .args(
            "cluster spirals.csv --drop label --preset paper --output labels.csv --json run.json".split(' '),
        )
        .current_dir(folder.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130));
    assert_eq!(folder.names(), ["spirals.csv"]);
}
