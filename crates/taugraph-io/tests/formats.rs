//! Every format round-trips; broken files are refused with the place of the error.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use taugraph_io::{
    Budget, Cells, Contents, Error, Header, LabeledMatrix, NewColumn, NewTable, Output, ReadOptions, Role,
    Source, SparseMatrix, Table, read, read_csv, write_graph, write_table,
};

fn csv(text: &str) -> Result<Table, Error> {
    read_csv(text.as_bytes(), "x.csv", &ReadOptions::numbers())
}

fn message(text: &str) -> String {
    csv(text).unwrap_err().to_string()
}

/// All columns as text.
fn texts(path: &Path) -> Vec<Vec<String>> {
    let roles = |names: &[String]| Ok(vec![Role::Text; names.len()]);
    let options = ReadOptions { roles: &roles, ..ReadOptions::numbers() };
    let Contents::Table(table) = read(&Source::new(path), &options).unwrap() else { panic!("no table") };
    table
        .columns
        .into_iter()
        .map(|column| if let Cells::Texts(texts) = column.cells { texts } else { panic!("no text") })
        .collect()
}

fn table(path: &Path) -> Table {
    match read(&Source::new(path), &ReadOptions::numbers()).unwrap() {
        Contents::Table(table) => table,
        Contents::Sparse(_) | Contents::Labeled(_) => panic!("no table"),
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

#[test]
fn text_tables_are_understood() {
    let found = csv("a,b\n1,2\n3,\nNA,nan\n").unwrap();
    assert_eq!((found.n_rows, found.n_numbers, found.number_names()), (3, 2, vec!["a", "b"]));
    assert_eq!(found.values.to_f64()[..3], [1.0, 2.0, 3.0]);
    assert!(found.values.iter().skip(3).all(f64::is_nan));
    // No header, other delimiters, quotes, a byte order mark, Windows line ends, blanks around numbers, no last line end.
    for text in
        ["1,2\n3,4\n", "1;2\r\n3;4", "\"1\",\"2\"\n\"3\", 4 \n", "\u{feff}1\t2\n3\t4\n", "1|2\n\n3|4\n"]
    {
        let found = csv(text).unwrap();
        assert_eq!((&found.values.to_f64()[..], found.n_rows), (&[1.0, 2.0, 3.0, 4.0][..], 2), "{text:?}");
        assert_eq!(found.number_names(), ["column_1", "column_2"]);
    }
    // Columns aligned by blanks; a last column of text without a header; decimal commas.
    assert_eq!(csv("  1.5   2\n 10  -3 \n").unwrap().values, vec![1.5, 2.0, 10.0, -3.0].into());
    assert_eq!(csv("x  y\n1  2\n").unwrap().number_names(), ["x", "y"]);
    let iris = csv("5.1,3.5,setosa\n4.9,3.0,setosa\n").unwrap();
    assert_eq!((iris.n_rows, iris.number_names()), (2, vec!["column_1", "column_2"]));
    let said = csv("a;b\n0,5;1\n").unwrap().refuse_text("; drop it").unwrap_err().to_string();
    assert!(said.contains("column 'a': '0,5' is not a number; write decimal points, not commas"), "{said}");
    let options = ReadOptions { header: Header::Yes, ..ReadOptions::numbers() };
    assert_eq!(read_csv("1,2\n3,4\n".as_bytes(), "x", &options).unwrap().number_names(), ["1", "2"]);
    let quoted = csv("\"x, \"\"y\"\"\",\"two\nlines\"\n1,2\n").unwrap();
    assert_eq!(quoted.number_names(), ["x, \"y\"", "two\nlines"]);
}

#[test]
fn text_among_numbers_is_noted_with_its_line() {
    let found = csv("a,b,c\n1,2,3\n4,five,6\n7,8,9\n").unwrap();
    assert_eq!(found.values, vec![1.0, 3.0, 4.0, 6.0, 7.0, 9.0].into());
    let said = found.refuse_text("; drop it").unwrap_err().to_string();
    assert_eq!(said, "x.csv, line 3, column 'b': 'five' is not a number; drop it");
}

#[test]
fn broken_text_tables_name_the_place() {
    for (text, expected) in [
        ("", "x.csv is empty"),
        ("\n\n", "x.csv is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n3\n", "line 3: 1 cells, but the first line has 2"),
        ("a,b\n1,2,3\n", "line 2: 3 cells"),
        ("a,a\n1,2\n", "two columns are called 'a'"),
        ("a,b\n1,inf\n", "line 2, column 'b': the value is infinite"),
        ("a,b\n1,\"x\n2,y\n3,z\n", "row that begins in line 2 has a quote that is never closed"),
        ("a,b\n\"1\n\",2\n3,inf\n", "row 2, column 'b': the value is infinite"),
        ("a,b\n1,2\n-1e999,4\n", "line 3, column 'a': the value is infinite"),
    ] {
        let said = message(text);
        assert!(said.contains(expected), "{text:?}: {said}");
    }
    let roles = |names: &[String]| Ok(vec![Role::Text; names.len()]);
    let options = ReadOptions { roles: &roles, ..ReadOptions::numbers() };
    let said = read_csv(&b"a,b\nx,\xff\n"[..], "x.csv", &options).unwrap_err().to_string();
    assert!(said.contains("line 2") && said.contains("UTF-8"), "{said}");
    let said = read_csv(&b"\xff\xfea\0"[..], "x.csv", &options).unwrap_err().to_string();
    assert!(said.contains("UTF-8"), "{said}");
    let wide = "1,".repeat(10_000_000) + "1\n";
    assert!(message(&wide).contains("10000001 cells, more than the 1000000"));
}

fn mixed() -> NewTable {
    NewTable::new(vec![
        NewColumn::texts("name", ["a,b", "c\"d", "e\nf"].map(String::from)),
        NewColumn::integers("cluster", [0, -1, 1 << 40]),
        NewColumn::numbers("value", [0.1, 1e-300, f64::NAN]),
    ])
}

#[test]
fn tables_come_back() {
    let folder = Folder::new();
    for name in ["t.csv", "t.tsv", "t.csv.gz", "t.csv.zst", "t.parquet"] {
        let path = folder.file(name);
        write_table(&mixed(), &Output::new(&path)).unwrap();
        let back = texts(&path);
        assert_eq!(back[0], ["a,b", "c\"d", "e\nf"], "{name}");
        assert_eq!(back[1], ["0", "-1", "1099511627776"], "{name}");
        let values: Vec<f64> = back[2][..2].iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(values, [0.1, 1e-300], "{name}");
    }
    let numbers = NewTable::new(mixed().columns()[1..].to_vec());
    for name in ["t.npy", "n.parquet", "n.csv"] {
        let path = folder.file(name);
        write_table(&numbers, &Output::new(&path)).unwrap();
        let back = table(&path);
        assert_eq!(back.values.to_f64()[..5], [0.0, 0.1, -1.0, 1e-300, 1099511627776.0], "{name}");
        assert!(back.values.get(5).is_nan(), "{name}");
    }
    let refused = write_table(&mixed(), &Output::new(&folder.file("t.npy"))).unwrap_err();
    assert!(refused.to_string().contains("'name' is text"), "{refused}");
    assert!(write_table(&mixed(), &Output::new(&folder.file("t.xlsx"))).is_err());
    // No partial file is left.
    let parts = std::fs::read_dir(folder.0.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(parts.count(), 0);
}

#[test]
fn graphs_come_back() {
    let folder = Folder::new();
    let matrix = SparseMatrix {
        n_rows: 3,
        n_columns: 3,
        offsets: vec![0, 1, 2, 2],
        columns: vec![1, 0],
        values: vec![0.1, 0.1],
    };
    for name in ["g.npz", "g.mtx", "g.mtx.gz"] {
        let path = folder.file(name);
        write_graph(&matrix, || unreachable!(), &Output::new(&path)).unwrap();
        let back = read(&Source::new(&path), &ReadOptions::numbers()).unwrap();
        assert_eq!(back, Contents::Sparse(matrix.clone()), "{name}");
    }
}

/// A file truncated anywhere is an error or, for text truncated at a line end, a shorter table; never a panic.
#[test]
fn truncated_files_are_refused() {
    let folder = Folder::new();
    let numbers = NewTable::new(vec![NewColumn::numbers("x", (0..500).map(f64::from))]);
    let matrix = SparseMatrix {
        n_rows: 2,
        n_columns: 2,
        offsets: vec![0, 1, 2],
        columns: vec![1, 0],
        values: vec![0.5, 0.5],
    };
    for name in ["t.npy", "t.parquet", "t.csv.gz", "t.csv.zst"] {
        write_table(&numbers, &Output::new(&folder.file(name))).unwrap();
    }
    write_graph(&matrix, || unreachable!(), &Output::new(&folder.file("g.npz"))).unwrap();
    for name in ["t.npy", "t.parquet", "t.csv.gz", "t.csv.zst", "g.npz"] {
        let whole = std::fs::read(folder.file(name)).unwrap();
        let cut = folder.file(&format!("cut-{name}"));
        for length in (1..whole.len()).step_by(whole.len() / 40 + 1) {
            std::fs::write(&cut, &whole[..length]).unwrap();
            let found = read(&Source::new(&cut), &ReadOptions::numbers());
            assert!(found.is_err() || length < 6, "{name} cut to {length} of {} bytes", whole.len());
        }
    }
}

#[test]
fn missing_files_and_folders_are_named() {
    let folder = Folder::new();
    let of = |path: &Path| read(&Source::new(path), &ReadOptions::numbers()).unwrap_err();
    assert!(matches!(of(&folder.file("none.csv")), Error::NotFound { .. }));
    assert!(matches!(of(folder.0.path()), Error::IsFolder { .. }));
    let target = Output::new(&folder.file("no/such/folder.csv"));
    assert!(matches!(target.check(), Err(Error::Write { .. })));
    assert!(matches!(Output::new(folder.0.path()).check(), Err(Error::Write { .. })));
}

/// A writer that fails leaves the previous file.
#[test]
fn a_failed_write_changes_nothing() {
    let folder = Folder::new();
    let path = folder.file("kept.csv");
    std::fs::write(&path, "before").unwrap();
    let failed = Output::new(&path).write(|out| {
        out.write_all(b"half")?;
        Err(std::io::Error::other("no more"))
    });
    assert!(failed.is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 1);
}

/// What a program wrote to a device with no room is an error, and the device stays.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let refused = write_table(&mixed_text(), &Output::new(Path::new("/dev/full")));
    assert!(refused.is_err());
    let full = Output::new(Path::new("/dev/full")).write(|out| out.write_all(&[0; 1 << 20]));
    assert!(full.unwrap_err().to_string().contains("No space left"));
    assert!(Path::new("/dev/full").exists());
}

fn mixed_text() -> NewTable {
    NewTable::new(vec![NewColumn::texts("x", ["y".to_string()])])
}

/// The links of a folder are followed, not replaced.
#[cfg(unix)]
#[test]
fn links_stay_links() {
    let folder = Folder::new();
    std::fs::write(folder.file("real.csv"), "old").unwrap();
    std::os::unix::fs::symlink(folder.file("real.csv"), folder.file("link.csv")).unwrap();
    Output::new(&folder.file("link.csv")).write(|out| out.write_all(b"new")).unwrap();
    assert!(folder.file("link.csv").is_symlink());
    assert_eq!(std::fs::read_to_string(folder.file("real.csv")).unwrap(), "new");
}

proptest! {
    /// Numbers written as text are read as the same bits.
    #[test]
    fn numbers_keep_their_bits(values in prop::collection::vec(any::<f64>(), 1..50)) {
        let finite: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        prop_assume!(!finite.is_empty());
        let folder = Folder::new();
        for name in ["t.csv", "t.parquet", "t.npy"] {
            let path = folder.file(name);
            let cells = finite.iter().copied();
            write_table(&NewTable::new(vec![NewColumn::numbers("x", cells)]), &Output::new(&path)).unwrap();
            let back: Vec<u64> = table(&path).values.iter().map(|value| value.to_bits()).collect();
            prop_assert_eq!(back, finite.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
        }
    }

    /// Whatever the bytes are, reading them ends with a table or an error.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_csv(&bytes[..], "x", &ReadOptions::numbers());
        let _ = taugraph_io::read_npy(&bytes[..], "x", Budget::unlimited());
        let _ = taugraph_io::read_matrix_market(&bytes[..], "x", Budget::unlimited());
    }
}

/// Detected by its lines or its extension, compressed or not; text tables with colons stay tables.
#[test]
fn svmlight_is_found_by_lines_and_ending() {
    let folder = Folder::new();
    let labeled = |name: &str, bytes: &[u8]| -> LabeledMatrix {
        std::fs::write(folder.file(name), bytes).unwrap();
        match read(&Source::new(&folder.file(name)), &ReadOptions::numbers()).unwrap() {
            Contents::Labeled(found) => found,
            other => panic!("{name}: {other:?}"),
        }
    };
    let text = b"1 1:0.5 7:2\n-1 2:1\n";
    let plain = labeled("a.data", text);
    assert_eq!((&plain.labels[..], plain.matrix.n_columns), (&["1".to_string(), "-1".into()][..], 7));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, text).unwrap();
    assert_eq!(labeled("b", &packed.finish().unwrap()), plain);
    assert_eq!(labeled("c.txt", &zstd::encode_all(&text[..], 1).unwrap()), plain);
    // Text labels, and rows without pairs, are recognized by the extension only.
    assert_eq!(labeled("d.SVM", b"ham 1:1\nspam\n").labels, ["ham", "spam"]);
    assert_eq!(labeled("e.libsvm", b"1\n2\n").matrix.n_columns, 0);
    std::fs::write(folder.file("times.csv"), "day,time\n1,12:30\n2,12:45\n").unwrap();
    assert_eq!(texts(&folder.file("times.csv"))[1], ["12:30", "12:45"]);
}
