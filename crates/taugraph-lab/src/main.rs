//! Temporary.
use taugraph_lab::{labels, paper};
struct Quiet;
impl paper::Listener for Quiet {
    fn start(&self, e: &str, n: usize) {
        eprintln!("{e}: {n}");
    }
}
fn main() {
    let what = std::env::args().nth(1).unwrap();
    let table = match what.as_str() {
        "table1" => paper::Table::Clustering,
        "table2" => paper::Table::Labels,
        "noise" => paper::Table::Noise,
        "neighbors" => paper::Table::Neighbors,
        _ => return labels::print().unwrap(),
    };
    let journal = paper::Journal::open(std::path::Path::new("/tmp/m/journal.jsonl")).unwrap();
    let found = paper::run(paper::experiment(table, paper::Size::Full), &journal, &Quiet).unwrap();
    println!("{}", paper::markdown(&found));
}
