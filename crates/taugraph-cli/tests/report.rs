//! Pages and figures of a run; what they look like is tested in a browser (`browser/`).

use crate::common::Folder;

#[test]
fn plot_draws_every_panel_and_prints_nothing() {
    let folder = Folder::new();
    folder.ok("generate spirals --points 120 --output data.csv");
    assert_eq!(
        folder.ok("plot data.csv --label-column label --clusters 2 --stability=3 --figures pictures"),
        ""
    );
    let mut names: Vec<String> = std::fs::read_dir(folder.file("pictures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for panel in [
        "comparison",
        "components",
        "decay",
        "eigenvalues",
        "graph-tau-0.1",
        "map-spectral-embedding-cluster",
        "map-t-sne-cluster",
        "map-the-two-columns-cluster",
        "map-the-two-columns-known-label",
        "map-the-two-columns-robust-scale",
        "map-the-two-columns-stability",
        "mean-stability",
        "scales",
        "sizes",
    ] {
        for ending in ["svg", "png"] {
            assert!(names.contains(&format!("{panel}.{ending}")), "{panel}.{ending} in {names:?}");
        }
    }
    let svg = std::fs::read_to_string(folder.file("pictures/scales.svg")).unwrap();
    assert!(svg.matches("<circle").count() == 120, "a point for each row");
}

/// The page is written beside everything else that a run writes, whole or not at all.
#[test]
fn a_page_changes_nothing_else() {
    let folder = Folder::new();
    folder.ok("generate blobs --points 150 --columns 3 --output data.csv");
    folder.ok("cluster data.csv --label-column label --output plain.csv");
    folder
        .ok("cluster data.csv --label-column label --output shown.csv --report page.html --checkpoints kept");
    assert_eq!(folder.read("plain.csv"), folder.read("shown.csv"));
    let first = folder.read("page.html");
    folder
        .ok("cluster data.csv --label-column label --output shown.csv --report page.html --checkpoints kept");
    let data = |page: &str| {
        let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap().to_string();
        let mut data: serde_json::Value = serde_json::from_str(&data).unwrap();
        data["facts"] = serde_json::Value::Null;
        data["panels"]["stages"] = serde_json::Value::Null;
        data
    };
    assert_eq!(data(&first), data(&folder.read("page.html")), "stages that were kept give the same page");
}

#[test]
fn pages_that_cannot_be_written_are_refused_before_the_work() {
    let folder = Folder::new();
    folder.ok("generate blobs --points 60 --output data.csv");
    folder.write("file", "");
    for (line, code, says) in [
        ("cluster data.csv --report nowhere/page.html", 4, "nowhere"),
        ("cluster data.csv --figures file/pictures", 4, "file/pictures"),
        ("cluster data.csv --report data.csv", 2, "the input"),
        ("graph data.csv --output g.npz --report g.npz", 2, "same file"),
        ("cluster data.csv --report -", 2, "standard output"),
    ] {
        let done = folder.run(line);
        assert_eq!(done.code(), code, "{line}: {}", done.err());
        assert!(done.err().contains(says), "{line}: {}", done.err());
    }
    assert!(folder.names().iter().all(|name| !name.ends_with(".html")));
    assert!(folder.ok("cluster data.csv --output labels.csv --report -").starts_with("<!doctype html>"));
}
