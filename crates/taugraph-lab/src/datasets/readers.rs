//! How the files of each set become numbers and labels. Nothing is scaled or filled, and no row is dropped except the one of
//! [`echocardiogram`] that has no label. Identifiers are dropped.

use super::text::{Arff, Delimiter, Row, TextFile, arff, rows};
use super::{LabeledTable, Result};

/// A reader of a set: its files, in the order of the registry.
pub type Reader = fn(&[TextFile]) -> Result<LabeledTable>;

/// Where the columns of a plain table get their names.
enum Names {
    /// Listed here, separated by blanks.
    Listed(&'static str),
    /// A prefix with 1, 2, … after it.
    Numbered(&'static str, usize),
    /// From the first line.
    Header,
}

/// A table of numbers with a class, in one or several files of the same form.
struct Plain {
    delimiter: Delimiter,
    has_header: bool,
    /// Columns that are neither feature nor class.
    ignored: &'static [usize],
    class: usize,
    names: Names,
}

impl Plain {
    fn read(&self, files: &[TextFile]) -> Result<LabeledTable> {
        let mut table =
            LabeledTable { feature_names: self.listed_names(), values: Vec::new(), labels: Vec::new() };
        for file in files {
            let rows = rows(file, self.delimiter);
            let (header, body) = rows.split_at(rows.len().min(usize::from(self.has_header)));
            if body.is_empty() {
                return Err(file.wrong("there are no rows"));
            }
            if let (Names::Header, [header]) = (&self.names, header) {
                table.feature_names = self.names_of_header(header)?;
            }
            let width = table.n_features() + self.ignored.len() + 1;
            for row in body {
                row.check_width(width)?;
                for column in (0..width).filter(|column| self.is_feature(*column)) {
                    table.values.push(row.number(column)?);
                }
                table.labels.push(row.label(self.class)?);
            }
        }
        Ok(table)
    }

    fn is_feature(&self, column: usize) -> bool {
        column != self.class && !self.ignored.contains(&column)
    }

    fn listed_names(&self) -> Vec<String> {
        match self.names {
            Names::Listed(names) => owned(names),
            Names::Numbered(prefix, count) => (1..=count).map(|number| format!("{prefix}{number}")).collect(),
            Names::Header => Vec::new(),
        }
    }

    fn names_of_header(&self, header: &Row<'_>) -> Result<Vec<String>> {
        let columns = (0..header.width()).filter(|column| self.is_feature(*column));
        columns.map(|column| header.text(column).map(str::to_string)).collect()
    }
}

fn owned(names: &str) -> Vec<String> {
    names.split_whitespace().map(str::to_string).collect()
}

/// Glass Identification: an identifier, nine numbers, the type.
pub fn glass(files: &[TextFile]) -> Result<LabeledTable> {
    let names = Names::Listed("RI Na Mg Al Si K Ca Ba Fe");
    Plain { delimiter: Delimiter::Comma, has_header: false, ignored: &[0], class: 10, names }.read(files)
}

/// Breast Cancer Wisconsin (Original): an identifier, nine grades from 1 to 10, the class (2 benign, 4 malignant).
pub fn breast_cancer_wisconsin(files: &[TextFile]) -> Result<LabeledTable> {
    let names = Names::Listed(
        "clump_thickness cell_size_uniformity cell_shape_uniformity marginal_adhesion single_epithelial_cell_size \
         bare_nuclei bland_chromatin normal_nucleoli mitoses",
    );
    Plain { delimiter: Delimiter::Comma, has_header: false, ignored: &[0], class: 10, names }.read(files)
}

/// Breast Cancer Wisconsin (Diagnostic): an identifier, the class (B, M), ten measures as mean, error and worst.
pub fn breast_cancer_diagnostic(files: &[TextFile]) -> Result<LabeledTable> {
    let names = Names::Listed(
        "radius_mean texture_mean perimeter_mean area_mean smoothness_mean compactness_mean concavity_mean \
         concave_points_mean symmetry_mean fractal_dimension_mean \
         radius_se texture_se perimeter_se area_se smoothness_se compactness_se concavity_se \
         concave_points_se symmetry_se fractal_dimension_se \
         radius_worst texture_worst perimeter_worst area_worst smoothness_worst compactness_worst concavity_worst \
         concave_points_worst symmetry_worst fractal_dimension_worst",
    );
    Plain { delimiter: Delimiter::Comma, has_header: false, ignored: &[0], class: 1, names }.read(files)
}

/// Wine: the cultivar, thirteen numbers.
pub fn wine(files: &[TextFile]) -> Result<LabeledTable> {
    let names = Names::Listed(
        "alcohol malic_acid ash alcalinity_of_ash magnesium total_phenols flavanoids nonflavanoid_phenols \
         proanthocyanins color_intensity hue od280_od315 proline",
    );
    Plain { delimiter: Delimiter::Comma, has_header: false, ignored: &[], class: 0, names }.read(files)
}

/// E. coli: the name of a sequence, seven numbers, the site; blanks between them.
pub fn ecoli(files: &[TextFile]) -> Result<LabeledTable> {
    let names = Names::Listed("mcg gvh lip chg aac alm1 alm2");
    Plain { delimiter: Delimiter::Blanks, has_header: false, ignored: &[0], class: 8, names }.read(files)
}

/// Leaf: the species, the number of the specimen, fourteen numbers.
pub fn leaf(files: &[TextFile]) -> Result<LabeledTable> {
    let names = Names::Listed(
        "eccentricity aspect_ratio elongation solidity stochastic_convexity isoperimetric_factor \
         maximal_indentation_depth lobedness average_intensity average_contrast smoothness third_moment uniformity \
         entropy",
    );
    Plain { delimiter: Delimiter::Comma, has_header: true, ignored: &[1], class: 0, names }.read(files)
}

/// Parkinsons: the name of a recording, numbers, the status among them; a header.
pub fn parkinsons(files: &[TextFile]) -> Result<LabeledTable> {
    Plain { delimiter: Delimiter::Comma, has_header: true, ignored: &[0], class: 17, names: Names::Header }
        .read(files)
}

/// Blood Transfusion: four numbers, and whether blood was given in March 2007; a header.
pub fn blood_transfusion(files: &[TextFile]) -> Result<LabeledTable> {
    let names = Names::Listed("recency_months frequency_times monetary_cc time_months");
    Plain { delimiter: Delimiter::Comma, has_header: true, ignored: &[], class: 4, names }.read(files)
}

/// SPECT Heart: the diagnosis, 22 binary features; first the training part, then the test part.
pub fn spect(files: &[TextFile]) -> Result<LabeledTable> {
    let names = Names::Numbered("F", 22);
    Plain { delimiter: Delimiter::Comma, has_header: false, ignored: &[], class: 0, names }.read(files)
}

/// SPECTF Heart: the diagnosis, 44 counts; first the training part, then the test part.
pub fn spectf(files: &[TextFile]) -> Result<LabeledTable> {
    let names = Names::Numbered("F", 44);
    Plain { delimiter: Delimiter::Comma, has_header: false, ignored: &[], class: 0, names }.read(files)
}

/// Breast Cancer (Ljubljana): nine answers. Age, size and nodes become the middle of their bin, yes and no 1 and 0, menopause and
/// quadrant one column for each value.
pub fn breast_cancer_ljubljana(files: &[TextFile]) -> Result<LabeledTable> {
    const MENOPAUSE: [&str; 3] = ["premeno", "lt40", "ge40"];
    const QUADRANTS: [&str; 5] = ["left_up", "left_low", "right_up", "right_low", "central"];
    const YES_NO: [(&str, f64); 2] = [("yes", 1.0), ("no", 0.0)];
    const CLASSES: [&str; 2] = ["no-recurrence-events", "recurrence-events"];
    let mut feature_names = owned("age tumor_size inv_nodes node_caps deg_malig breast_right irradiat");
    feature_names.extend(MENOPAUSE.iter().map(|name| format!("menopause_{name}")));
    feature_names.extend(QUADRANTS.iter().map(|name| format!("quad_{name}")));
    collect(feature_names, files, |row| {
        row.check_width(10)?;
        let mut values = vec![
            middle_of_bin(row, 0)?,
            middle_of_bin(row, 2)?,
            middle_of_bin(row, 3)?,
            row.coded(4, &YES_NO)?,
            row.number(5)?,
            row.coded(6, &[("right", 1.0), ("left", 0.0)])?,
            row.coded(8, &YES_NO)?,
        ];
        values.extend(row.one_of(1, &MENOPAUSE)?);
        values.extend(row.one_of(7, &QUADRANTS)?);
        row.one_of(9, &CLASSES)?;
        Ok(Some((values, row.label(9)?)))
    })
}

/// 44.5 for 40-49.
fn middle_of_bin(row: &Row<'_>, column: usize) -> Result<f64> {
    let ends = row.text(column)?.split_once('-');
    let ends = ends.and_then(|(first, last)| Some((first.parse::<u32>().ok()?, last.parse::<u32>().ok()?)));
    let (first, last) = ends.ok_or_else(|| row.unexpected(column, "a bin like 40-49"))?;
    Ok((f64::from(first) + f64::from(last)) / 2.0)
}

/// Echocardiogram: whether the patient was still alive, from nine numbers. The one row without that answer is dropped; it is also
/// the one with an extra comma.
pub fn echocardiogram(files: &[TextFile]) -> Result<LabeledTable> {
    const WIDTH: usize = 13;
    const STILL_ALIVE: usize = 1;
    let names = "survival age_at_heart_attack pericardial_effusion fractional_shortening epss lvdd wall_motion_score \
                 wall_motion_index mult";
    collect(owned(names), files, |row| {
        row.drop_stray_cell(WIDTH);
        row.check_width(WIDTH)?;
        if row.is_missing(STILL_ALIVE) {
            return Ok(None);
        }
        let columns = [0].into_iter().chain(2..10);
        let values = columns.map(|column| row.number(column)).collect::<Result<_>>()?;
        Ok(Some((values, row.label(STILL_ALIVE)?)))
    })
}

/// Rows that need their own reader; `None` drops a row.
fn collect(
    feature_names: Vec<String>,
    files: &[TextFile],
    mut read: impl FnMut(&mut Row<'_>) -> Result<Option<(Vec<f64>, String)>>,
) -> Result<LabeledTable> {
    let mut table = LabeledTable { feature_names, values: Vec::new(), labels: Vec::new() };
    for file in files {
        for mut row in rows(file, Delimiter::Comma) {
            if let Some((values, label)) = read(&mut row)? {
                table.values.extend(values);
                table.labels.push(label);
            }
        }
        if table.labels.is_empty() {
            return Err(file.wrong("there are no rows"));
        }
    }
    Ok(table)
}

/// Chronic Kidney Disease: 24 numbers and answers. What is abnormal, present, yes or poor is 1.
pub fn kidney_disease(files: &[TextFile]) -> Result<LabeledTable> {
    const CODES: [(&str, f64); 8] = [
        ("normal", 0.0),
        ("abnormal", 1.0),
        ("notpresent", 0.0),
        ("present", 1.0),
        ("no", 0.0),
        ("yes", 1.0),
        ("good", 0.0),
        ("poor", 1.0),
    ];
    let number = |row: &Row<'_>, column| row.coded(column, &CODES).or_else(|_| row.number(column));
    arff_table(
        files,
        25,
        |names| names.iter().map(|name| name.to_string()).collect(),
        |row| (0..24).map(|column| number(row, column)).collect(),
    )
}

/// The diagnoses of Thoracic Surgery; there is no seventh.
const DIAGNOSES: [&str; 7] = ["DGN1", "DGN2", "DGN3", "DGN4", "DGN5", "DGN6", "DGN8"];

/// Thoracic Surgery, one column for each diagnosis: diagnoses have no order, and distances should not see one.
pub fn thoracic_surgery(files: &[TextFile]) -> Result<LabeledTable> {
    let names = |names: &[&str]| DIAGNOSES.iter().chain(&names[1..]).map(|name| name.to_string()).collect();
    arff_table(files, 17, names, |row| {
        let mut values = row.one_of(0, &DIAGNOSES)?;
        for column in 1..16 {
            values.push(thoracic_number(row, column)?);
        }
        Ok(values)
    })
}

/// Thoracic Surgery with the diagnosis as its number, for methods that do not compare rows by distance.
pub fn thoracic_surgery_numbered(files: &[TextFile]) -> Result<LabeledTable> {
    arff_table(
        files,
        17,
        |names| names.iter().map(|name| name.to_string()).collect(),
        |row| (0..16).map(|column| thoracic_number(row, column)).collect(),
    )
}

/// T and F as 1 and 0, DGN3 as 3, PRZ1 as 1, OC14 as 4, and numbers.
fn thoracic_number(row: &Row<'_>, column: usize) -> Result<f64> {
    let cell = row.text(column)?;
    match cell {
        "T" => return Ok(1.0),
        "F" => return Ok(0.0),
        _ => {}
    }
    let digits = ["DGN", "PRZ", "OC1"].iter().find_map(|prefix| cell.strip_prefix(prefix));
    match digits.map(|digits| digits.parse::<u8>()) {
        Some(Ok(number)) => Ok(f64::from(number)),
        Some(Err(_)) => Err(row.unexpected(column, "a grade")),
        None => row.number(column),
    }
}

/// Rows of ARFF files with the class in the last of `width` columns. `names` gets those of the features.
fn arff_table(
    files: &[TextFile],
    width: usize,
    names: impl Fn(&[&str]) -> Vec<String>,
    read: impl Fn(&Row<'_>) -> Result<Vec<f64>>,
) -> Result<LabeledTable> {
    let mut table = LabeledTable { feature_names: Vec::new(), values: Vec::new(), labels: Vec::new() };
    for file in files {
        let Arff { names: found, rows } = arff(file)?;
        if found.len() != width {
            return Err(file.wrong(format!("{} attributes, but {width} were expected", found.len())));
        }
        if rows.is_empty() {
            return Err(file.wrong("there are no rows"));
        }
        table.feature_names = names(&found[..width - 1]);
        for row in &rows {
            table.values.extend(read(row)?);
            table.labels.push(row.label(width - 1)?);
        }
    }
    Ok(table)
}

/// Arcene: 10,000 intensities in one file and the classes in another, for the training part and the validation part.
pub fn arcene(files: &[TextFile]) -> Result<LabeledTable> {
    const WIDTH: usize = 10_000;
    let feature_names = (1..=WIDTH).map(|number| format!("V{number}")).collect();
    let mut table = LabeledTable { feature_names, values: Vec::new(), labels: Vec::new() };
    for part in files.chunks(2) {
        let [data, classes] = part else {
            return Err(part[0].wrong("the file of its labels was expected next to it"));
        };
        let (rows_of_data, rows_of_classes) =
            (rows(data, Delimiter::Blanks), rows(classes, Delimiter::Blanks));
        if rows_of_data.len() != rows_of_classes.len() {
            let (found, expected) = (rows_of_classes.len(), rows_of_data.len());
            return Err(classes.wrong(format!("{found} labels, but {} has {expected} rows", data.name)));
        }
        for (row, class) in rows_of_data.iter().zip(&rows_of_classes) {
            row.check_width(WIDTH)?;
            for column in 0..WIDTH {
                table.values.push(row.number(column)?);
            }
            class.check_width(1)?;
            table.labels.push(class.label(0)?);
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::DATASETS;
    use super::*;

    fn file(text: &str) -> Vec<TextFile> {
        vec![TextFile { name: "x.data".into(), text: text.into() }]
    }

    fn same(values: &[f64], expected: &[f64]) {
        assert_eq!(values.len(), expected.len());
        for (value, expected) in values.iter().zip(expected) {
            assert!(value == expected || value.is_nan() && expected.is_nan(), "{value} is not {expected}");
        }
    }

    #[test]
    fn a_question_mark_is_missing() {
        let table = breast_cancer_wisconsin(&file("1057013,8,4,5,1,2,?,7,3,1,4\n")).unwrap();
        same(&table.values, &[8.0, 4.0, 5.0, 1.0, 2.0, f64::NAN, 7.0, 3.0, 1.0]);
        assert_eq!(table.labels, ["4"]);
    }

    #[test]
    fn the_row_with_a_comma_too_many_has_no_label() {
        let text = "11,0,71,0,0.260,9,4.600,14,1,1,name,1,0\n,?,?,77,?,?,?,?,?,2,?,name,2,?\n.25,1,63,1,?,?,?,23,2.3,0.714,name,2,1\n";
        let table = echocardiogram(&file(text)).unwrap();
        assert_eq!(table.labels, ["0", "1"]);
        same(&table.values[..9], &[11.0, 71.0, 0.0, 0.26, 9.0, 4.6, 14.0, 1.0, 1.0]);
        same(&table.values[9..], &[0.25, 63.0, 1.0, f64::NAN, f64::NAN, f64::NAN, 23.0, 2.3, 0.714]);
    }

    #[test]
    fn answers_become_numbers() {
        let text = "'40-49','premeno','15-19','0-2','yes','3','right','left_up','no','recurrence-events'\n\
                    '50-59','lt40','20-24','0-2',nan,'1','left',nan,'no','no-recurrence-events'\n";
        let table = breast_cancer_ljubljana(&file(text)).unwrap();
        let first = [44.5, 17.0, 1.0, 1.0, 3.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        same(&table.values[..15], &first);
        let nan = f64::NAN;
        same(
            &table.values[15..],
            &[54.5, 22.0, 1.0, nan, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, nan, nan, nan, nan, nan],
        );
        let wrong = breast_cancer_ljubljana(&file(&text.replace("15-19", "15"))).unwrap_err();
        assert_eq!(wrong.to_string(), "x.data, line 1: cell 3 is '15', but a bin like 40-49 was expected");
    }

    #[test]
    fn parts_are_read_in_order() {
        let part = |name: &str, text: String| TextFile { name: name.into(), text };
        let row = |class: u8| format!("{class}{}\r\n", ",1".repeat(22));
        let table = spect(&[part("SPECT.train", row(1)), part("SPECT.test", row(0) + &row(1))]).unwrap();
        assert_eq!((table.labels, table.values.len()), (vec!["1".into(), "0".into(), "1".into()], 66));
        let empty = spect(&[part("SPECT.train", row(1)), part("SPECT.test", "\n".into())]).unwrap_err();
        assert_eq!(empty.to_string(), "SPECT.test: there are no rows");
    }

    #[test]
    fn the_labels_of_arcene_lie_beside_it() {
        let part = |name: &str, text: &str| TextFile { name: name.into(), text: text.into() };
        let numbers = "\n".to_string() + &"7 ".repeat(10_000) + "\n";
        let table = arcene(&[part("a.data", &numbers), part("a.labels", "-1\n")]).unwrap();
        assert_eq!((table.labels[0].as_str(), table.values[9_999]), ("-1", 7.0));
        let wrong = arcene(&[part("a.data", &numbers), part("a.labels", "-1\n1\n")]).unwrap_err();
        assert_eq!(wrong.to_string(), "a.labels: 2 labels, but a.data has 1 rows");
        assert!(arcene(&[part("a.data", &numbers)]).is_err());
        assert!(arcene(&[part("a.data", "1 2 3"), part("a.labels", "1")]).is_err());
    }

    #[test]
    fn diagnoses_have_no_order() {
        let attributes: String = (1..=16).map(|number| format!("@attribute A{number} numeric\n")).collect();
        let header = format!("@attribute DGN {{DGN1,DGN8}}\n{attributes}@data\n")
            .replace("A3 numeric", "A3 {PRZ0,PRZ1}");
        let text =
            format!("{header}DGN8,2.5,1,PRZ1{},60,F\n", ",0".repeat(11)).replace("A16 numeric", "R {T,F}");
        let one_hot = thoracic_surgery(&file(&text)).unwrap();
        same(&one_hot.values[..10], &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.5, 1.0, 1.0]);
        assert_eq!((one_hot.feature_names[6].as_str(), one_hot.n_features()), ("DGN8", 22));
        let numbered = thoracic_surgery_numbered(&file(&text)).unwrap();
        same(&numbered.values[..4], &[8.0, 2.5, 1.0, 1.0]);
        assert_eq!((numbered.labels, numbered.feature_names[0].as_str()), (vec!["F".to_string()], "DGN"));
    }

    /// Lines that look valid more often than random ones would.
    fn hostile() -> impl Strategy<Value = String> {
        let cell = prop_oneof![
            "[0-9.,?+eE -]{0,6}",
            "[\\PC]{0,4}",
            Just("?".to_string()),
            Just("T".to_string()),
            Just("DGN".to_string()),
            Just("OC1é".to_string()),
            Just("'40-".to_string()),
        ];
        let separator = prop_oneof![Just(","), Just(" "), Just("\t"), Just("\n"), Just("\r\n"), Just(",,")];
        let start = prop_oneof![
            Just(String::new()),
            Just("@attribute 'é\n".to_string()),
            Just("@attribute x {\n@data\n".to_string()),
            Just("@attribute x {a}\n@attribute y numeric\n@data\n".to_string()),
        ];
        let cells = proptest::collection::vec((cell, separator), 0..60);
        (start, cells).prop_map(|(start, cells)| {
            start + &cells.into_iter().map(|(cell, separator)| cell + separator).collect::<String>()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn hostile_text_is_an_error_or_a_table(texts in proptest::collection::vec(hostile(), 1..4)) {
            let files: Vec<TextFile> =
                texts.iter().map(|text| TextFile { name: "x".into(), text: text.clone() }).collect();
            let readers = DATASETS.iter().map(|info| info.reader).chain([thoracic_surgery_numbered as Reader]);
            for reader in readers {
                if let Ok(table) = reader(&files) {
                    prop_assert_eq!(table.values.len(), table.n_rows() * table.n_features());
                }
            }
        }
    }
}
