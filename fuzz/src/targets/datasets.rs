//! The texts of the paper's datasets.

use taugraph_lab::datasets::DATASETS;
use taugraph_lab::datasets::text::TextFile;

/// The first byte names the dataset; zeros separate its files.
pub fn datasets(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let file = |text: &str| TextFile { name: "fuzz".into(), text: text.into() };
    let files: Vec<TextFile> = text.split('\0').map(file).collect();
    let info = &DATASETS[first as usize % DATASETS.len()];
    if let Ok(table) = (info.reader)(&files) {
        assert_eq!(table.values.len(), table.n_rows() * table.n_features());
        assert_eq!(table.labels.len(), table.n_rows());
    }
}
