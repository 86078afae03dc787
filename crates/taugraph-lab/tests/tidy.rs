//! Every set equals its tidy copy, value by value. The files are in the folder that TAUGRAPH_DATA names; without it, the tests report that
//! they were skipped.

use std::path::Path;

use taugraph_io::{Cells, Contents, Header, ReadOptions, Role, Source, read};
use taugraph_lab::datasets::{DATASETS, LabeledTable, Store, find, load, readers};

use crate::common::real_files;

/// The tidy copy of each set, and the number that stands for each label in it; other labels are numbers already.
fn tidy_copy(id: &str) -> (&'static str, &'static [(&'static str, &'static str)]) {
    const ECOLI: [(&str, &str); 8] = [
        ("cp", "0"),
        ("im", "1"),
        ("pp", "2"),
        ("imU", "3"),
        ("om", "4"),
        ("omL", "5"),
        ("imL", "6"),
        ("imS", "7"),
    ];
    match id {
        "glass" => ("glass.csv", &[]),
        "breast-cancer-wisconsin" => ("breast_cancer_wisconsin_original.csv", &[("2", "0"), ("4", "1")]),
        "breast-cancer-diagnostic" => ("breast_cancer_wisconsin_diagnostic.csv", &[("B", "0"), ("M", "1")]),
        "breast-cancer-ljubljana" => {
            ("breast_cancer_ljubljana.csv", &[("no-recurrence-events", "0"), ("recurrence-events", "1")])
        }
        "wine" => ("wine.csv", &[]),
        "ecoli" => ("ecoli.csv", &ECOLI),
        "leaf" => ("leaf.csv", &[]),
        "parkinsons" => ("parkinsons.csv", &[]),
        "blood-transfusion" => ("blood_transfusion.csv", &[]),
        "echocardiogram" => ("echocardiogram.csv", &[]),
        "kidney-disease" => ("chronic_kidney_disease.csv", &[("ckd", "1"), ("notckd", "0")]),
        "spect" => ("spect.csv", &[]),
        "spectf" => ("spectf.csv", &[]),
        "thoracic-surgery" => ("thoracic_surgery_onehot.csv", &[("T", "1"), ("F", "0")]),
        "arcene" => ("arcene.csv.gz", &[("-1", "0")]),
        other => panic!("no tidy copy of {other} is known"),
    }
}

fn compare(table: &LabeledTable, folder: &Path, id: &str, file: &str, codes: &[(&str, &str)]) {
    let roles = |names: &[String]| {
        Ok(names.iter().map(|name| if name == "label" { Role::Text } else { Role::Number }).collect())
    };
    let options = ReadOptions { roles: &roles, header: Header::Yes, ..ReadOptions::numbers() };
    let Contents::Table(tidy) = read(&Source::new(&folder.join("tidy").join(file)), &options).unwrap() else {
        panic!("{file} is not a table");
    };
    let (class, features) = tidy.columns.split_last().unwrap();
    let names: Vec<&str> = features.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(table.feature_names, names, "{id}");
    assert_eq!((table.n_rows(), table.values.len()), (tidy.n_rows, tidy.values.len()), "{id}");
    for (place, (value, expected)) in table.values.iter().zip(tidy.values.to_f64().iter()).enumerate() {
        let is_same = value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan();
        let (row, column) = (place / names.len() + 1, names[place % names.len()]);
        assert!(is_same, "{id}, row {row}, column {column}: {value} is not {expected}");
    }
    let Cells::Texts(classes) = &class.cells else { panic!("the labels of {file} were read as text") };
    for (row, (label, expected)) in table.labels.iter().zip(classes).enumerate() {
        let code = codes.iter().find(|(text, _)| text == label).map_or(label.as_str(), |(_, code)| code);
        assert_eq!(code, expected, "{id}, row {}", row + 1);
    }
}

#[test]
fn every_set_equals_its_tidy_copy() {
    let Some(folder) = real_files("no set was compared with its tidy copy") else { return };
    let store = Store::new(Some(folder.clone()), None);
    for info in &DATASETS {
        let table = load(info, &store).unwrap();
        let size = (table.n_rows(), table.n_features(), table.n_classes());
        assert_eq!(size, (info.rows, info.features, info.classes), "{}", info.id);
        let (file, codes) = tidy_copy(info.id);
        compare(&table, &folder, info.id, file, codes);
    }
}

#[test]
fn diagnoses_as_numbers_equal_their_tidy_copy() {
    let Some(folder) = real_files("diagnoses as numbers were not compared with their tidy copy") else {
        return;
    };
    let info = find("thoracic-surgery").unwrap();
    let (_, files) = Store::new(Some(folder.clone()), None).read(info).unwrap();
    let table = readers::thoracic_surgery_numbered(&files).unwrap();
    compare(&table, &folder, info.id, "thoracic_surgery.csv", &[("T", "1"), ("F", "0")]);
}
