//! Files by their names, files that are replaced, and what errors say of files.

use std::io::Read;
use std::path::Path;

use taugraph_io::{
    Budget, Contents, Error, Format, NewColumn, NewTable, Output, ReadOptions, Source, SparseMatrix,
    check_graph_output, check_table_output, is_missing, is_safetensors, open_own, read, read_csv, read_npy,
    replace_file, write_graph, write_matrix, write_table, written,
};

use crate::common::obstacle;

#[test]
fn names_imply_formats() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| Output::new(&folder.path().join(name));
    for (name, format, table, graph) in [
        ("a.csv", Some(Format::Text(b',')), true, true),
        ("a.TXT", Some(Format::Text(b',')), true, true),
        ("a.tsv.gz", Some(Format::Text(b'\t')), true, true),
        ("a.tab", Some(Format::Text(b'\t')), true, true),
        ("a.npy", Some(Format::Npy), true, false),
        ("a.npz", Some(Format::Npz), false, true),
        ("a.parquet", Some(Format::Parquet), true, true),
        ("a.pq", Some(Format::Parquet), true, true),
        ("a.mtx.zst", Some(Format::MatrixMarket), false, true),
        ("a.xlsx", None, false, false),
        ("a.gz", None, false, false),
        ("a", None, false, false),
        ("-", Some(Format::Text(b',')), true, true),
    ] {
        let output = if name == "-" { Output::new(Path::new("-")) } else { of(name) };
        assert_eq!(Format::of(&output), format, "{name}");
        assert_eq!(check_table_output(&output).is_ok(), table, "{name}");
        assert_eq!(check_graph_output(&output).is_ok(), graph, "{name}");
    }
    assert_eq!(Output::new(Path::new("-")).to_string(), "standard output");
    assert!(
        check_table_output(&of("no/folder.csv")).is_err() && check_graph_output(&of("no/folder.pq")).is_err()
    );
    let matrix = SparseMatrix {
        n_rows: 2,
        n_columns: 3,
        offsets: vec![0, 1, 2],
        columns: vec![2, 0],
        values: vec![0.5, 2.0],
    };
    let edges = || NewTable::new(vec![NewColumn::integers("from", [0]), NewColumn::numbers("weight", [0.5])]);
    for name in ["m.npz", "m.mtx"] {
        write_matrix(&matrix, || unreachable!(), &of(name)).unwrap();
        let back = read(&Source::new(&folder.path().join(name)), &ReadOptions::numbers()).unwrap();
        assert_eq!(back, Contents::Sparse(matrix.clone()), "{name}");
    }
    write_graph(&matrix, edges, &of("g.csv")).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("g.csv")).unwrap(), "from,weight\n0,0.5\n");
    for name in ["g.npy", "g.xlsx"] {
        assert!(matches!(write_graph(&matrix, edges, &of(name)), Err(Error::UnknownFormat { .. })), "{name}");
    }
    // Whole numbers stay whole in NPY, beside others they do not; one column is one axis.
    write_table(&NewTable::new(vec![NewColumn::integers("a", [3, -4])]), &of("whole.npy")).unwrap();
    let whole = std::fs::read(folder.path().join("whole.npy")).unwrap();
    assert!(whole.windows(4).any(|part| part == b"'<i8") && whole.windows(4).any(|part| part == b"(2,)"));
    assert_eq!(read_npy(&whole[..], "x", Budget::unlimited()).unwrap().values, [3.0, -4.0]);
}

#[test]
fn safetensors_are_recognized() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    std::fs::write(&path, b"\x02\0\0\0\0\0\0\0{}").unwrap();
    let source = Source::new(&path);
    assert!(is_safetensors(&source, Budget::unlimited()).unwrap());
    assert!(!is_safetensors(&Source::Stdin, Budget::unlimited()).unwrap());
    let said = read(&source, &ReadOptions::numbers()).unwrap_err().to_string();
    assert!(said.contains("it contains named arrays (safetensors)"), "{said}");
    std::fs::write(&path, b"\x02\0\0\0\0\0\0\x01{}").unwrap();
    assert!(!is_safetensors(&source, Budget::unlimited()).unwrap());
    std::fs::write(&path, b"").unwrap();
    assert!(matches!(read(&source, &ReadOptions::numbers()), Err(Error::Empty { .. })));
}

#[test]
fn errors_say_sizes_and_whose_fault_it_is() {
    let over = |needed, allowed| Error::OverBudget { name: "x".into(), needed, allowed }.to_string();
    assert!(over(2000, 1023).contains("the 1023 bytes of memory that are allowed: at least 2 KiB"));
    assert!(over((1 << 20) + 1, 1 << 10).contains("the 1 KiB of memory that are allowed: at least 2 MiB"));
    assert!(over(1 << 30, 0).contains("the memory there is: 1024 MiB were not to be had"));
    let other = |kind: std::io::ErrorKind| std::io::Error::from(kind);
    let (pipe, full) = (std::io::ErrorKind::BrokenPipe, std::io::ErrorKind::StorageFull);
    assert!(Error::Stdout(other(pipe)).is_broken_pipe() && !Error::Stdout(other(full)).is_broken_pipe());
    let written = Error::Write { path: "x".into(), source: other(pipe) };
    assert!(!written.is_broken_pipe() && written.is_output() && Error::Stdout(other(full)).is_output());
    assert!(!Error::Empty { name: "x".into() }.is_output());
    let long = format!("a\n1\n{}\n", "é".repeat(50));
    let said = read_csv(long.as_bytes(), "x", &ReadOptions::numbers()).unwrap();
    assert!(obstacle(&said, "a").ends_with(&format!("{}…", "é".repeat(40))));
    let bell = read_csv(&b"a\n1\n\x07\n"[..], "x", &ReadOptions::numbers()).unwrap();
    assert!(obstacle(&bell, "a").ends_with("\\u{7}"));
}

#[test]
fn missing_cells_have_many_names() {
    for cell in ["", "na", "N/A", "NaN", "NULL", "None", "?"] {
        assert!(is_missing(cell.as_bytes()), "{cell}");
    }
    assert!(!is_missing(b"0") && !is_missing(b"nano"));
}

#[test]
fn files_of_the_program_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stage");
    replace_file(&path, |out| out.write_all(b"first")).unwrap();
    let failed = replace_file(&path, |out| {
        out.write_all(b"half")?;
        Err(std::io::Error::other("no more"))
    });
    assert!(matches!(failed, Err(Error::Write { path: named, .. }) if named == path));
    let (mut own, size) = open_own(&path).unwrap();
    let mut text = String::new();
    own.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), size), ("first", 5));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no part is left");
    assert!(open_own(folder.path()).is_err() && open_own(&folder.path().join("none")).is_err());
    assert!(!written().contains(&path.display().to_string()), "only outputs are listed");
    let output = Output::new(&folder.path().join("labels.csv"));
    output.write(|out| out.write_all(b"x\n")).unwrap();
    assert!(written().contains(&output.to_string()));
}

/// In the place of a link there is a file afterwards; what it named stays.
#[cfg(unix)]
#[test]
fn links_in_the_place_of_own_files_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    std::fs::write(&target, "of somebody").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let refused = open_own(&link).map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    replace_file(&link, |out| out.write_all(b"ours")).unwrap();
    assert!(!link.is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "of somebody");
    assert_eq!(std::fs::read_to_string(&link).unwrap(), "ours");
}

/// A file that is written again keeps its permissions; a pipe is written to, not replaced.
#[cfg(unix)]
#[test]
fn permissions_and_pipes_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("private.csv");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    Output::new(&path).write(|out| out.write_all(b"new")).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let pipe = folder.path().join("pipe");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        Output::new(&pipe).write(|out| out.write_all(b"a,b\n1,2\n")).unwrap();
        assert_eq!(reader.join().unwrap(), "a,b\n1,2\n");
        assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(Format::of(&Output::new(&pipe)), Some(Format::Text(b',')));
    }
}
