//! The paper's datasets: what they are, who donated them, and their expected files.

use super::readers::{self, Reader};
use super::{Error, Result};

/// Where the archive keeps its files.
pub const ARCHIVE: &str = "https://archive.ics.uci.edu/ml/machine-learning-databases/";

/// One set.
#[derive(Debug, Clone, Copy)]
pub struct DatasetInfo {
    /// The name that commands use.
    pub id: &'static str,
    /// The name that people use.
    pub title: &'static str,
    /// Rows of the table that is loaded.
    pub rows: usize,
    /// Columns of the table that is loaded, not counting the class.
    pub features: usize,
    /// Number of classes in it.
    pub classes: usize,
    /// The columns and the class, and how answers became numbers.
    pub contents: &'static str,
    /// The license under which the archive distributes it.
    pub license: &'static str,
    /// Creators and donors.
    pub citation: &'static str,
    /// The folder of its files, within TAUGRAPH_DATA and within the cache.
    pub folder: &'static str,
    /// Its files, in the order in which they are read.
    pub files: &'static [FileInfo],
    /// Further notes on its files.
    pub note: Option<&'static str>,
    /// Makes the table from the files.
    pub reader: Reader,
}

/// One file of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInfo {
    /// Its name.
    pub name: &'static str,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in lower-case hexadecimal digits.
    pub sha256: &'static str,
    /// Its path below [`ARCHIVE`]; `None` if the archive does not offer the file separately.
    pub address: Option<&'static str>,
}

impl DatasetInfo {
    /// Bytes of all its files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// As stated on the archive's pages.
const LICENSE: &str = "CC BY 4.0";

/// All sets, in the order of the paper's tables.
pub static DATASETS: [DatasetInfo; 15] = [
    DatasetInfo {
        id: "glass",
        title: "Glass Identification",
        rows: 214,
        features: 9,
        classes: 6,
        contents: "refractive index and eight oxides; the class is the type of glass, 1 to 7 without 4",
        license: LICENSE,
        citation: "B. German (creator), V. Spiehler (donor), 1987",
        folder: "glass",
        files: &[FileInfo {
            name: "glass.data",
            bytes: 11_903,
            sha256: "dd67373f4baf2807345df02cbfef2093d342e61ad0d82a4fb79af43ef8ce449d",
            address: Some("glass/glass.data"),
        }],
        note: None,
        reader: readers::glass,
    },
    DatasetInfo {
        id: "breast-cancer-wisconsin",
        title: "Breast Cancer Wisconsin (Original)",
        rows: 699,
        features: 9,
        classes: 2,
        contents: "nine grades from 1 to 10, 16 cells missing; the class is 2 (benign) or 4 (malignant)",
        license: LICENSE,
        citation: "W. H. Wolberg, University of Wisconsin Hospitals, Madison; O. L. Mangasarian and W. H. Wolberg, \
                   Cancer diagnosis via linear programming, SIAM News 23(5), 1990",
        folder: "breast_cancer_wisconsin_original",
        files: &[FileInfo {
            name: "breast-cancer-wisconsin.data",
            bytes: 19_889,
            sha256: "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
            address: Some("breast-cancer-wisconsin/breast-cancer-wisconsin.data"),
        }],
        note: None,
        reader: readers::breast_cancer_wisconsin,
    },
    DatasetInfo {
        id: "breast-cancer-diagnostic",
        title: "Breast Cancer Wisconsin (Diagnostic)",
        rows: 569,
        features: 30,
        classes: 2,
        contents: "ten measures of cell nuclei as mean, standard error and worst; the class is B (benign) or M (malignant)",
        license: LICENSE,
        citation: "W. H. Wolberg, W. N. Street (donor), O. L. Mangasarian, 1995",
        folder: "breast_cancer_wisconsin_diagnostic",
        files: &[FileInfo {
            name: "wdbc.data",
            bytes: 124_103,
            sha256: "d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a",
            address: Some("breast-cancer-wisconsin/wdbc.data"),
        }],
        note: None,
        reader: readers::breast_cancer_diagnostic,
    },
    DatasetInfo {
        id: "breast-cancer-ljubljana",
        title: "Breast Cancer (Ljubljana)",
        rows: 286,
        features: 15,
        classes: 2,
        contents: "nine answers: age, tumor size and nodes as the middle of their bin, menopause and quadrant as one column for \
                   each value; 13 cells missing; the class is the recurrence",
        license: LICENSE,
        citation: "M. Zwitter and M. Soklic, Institute of Oncology, University Medical Center, Ljubljana; M. Tan and \
                   J. Schlimmer (donors), 1988",
        folder: "breast_cancer_ljubljana",
        files: &[FileInfo {
            name: "breast-cancer.csv",
            bytes: 24_373,
            sha256: "4523656d14e91168a602301490a8c89674a9b14384c29a5f652ba1a2bec844a9",
            address: None,
        }],
        note: Some(
            "The SHA-256 is that of a mirror's copy, with quoted cells, the class last and the rows in another order. \
             The archive's own file (breast-cancer/breast-cancer.data) differs and is not read.",
        ),
        reader: readers::breast_cancer_ljubljana,
    },
    DatasetInfo {
        id: "wine",
        title: "Wine",
        rows: 178,
        features: 13,
        classes: 3,
        contents: "thirteen chemical measures; the class is the cultivar, 1 to 3",
        license: LICENSE,
        citation: "M. Forina et al., PARVUS; S. Aeberhard (donor), 1991",
        folder: "wine",
        files: &[FileInfo {
            name: "wine.data",
            bytes: 10_782,
            sha256: "6be6b1203f3d51df0b553a70e57b8a723cd405683958204f96d23d7cd6aea659",
            address: Some("wine/wine.data"),
        }],
        note: None,
        reader: readers::wine,
    },
    DatasetInfo {
        id: "ecoli",
        title: "E. coli",
        rows: 336,
        features: 7,
        classes: 8,
        contents: "seven scores of a protein's sequence; the class is where in the cell it is",
        license: LICENSE,
        citation: "K. Nakai (creator), P. Horton (donor), 1996",
        folder: "ecoli",
        files: &[FileInfo {
            name: "ecoli.data",
            bytes: 19_488,
            sha256: "008bd8fbb1d8b34040c3c8c4e987cac2a7ebf116e008b140cc6441be5261ba1d",
            address: Some("ecoli/ecoli.data"),
        }],
        note: None,
        reader: readers::ecoli,
    },
    DatasetInfo {
        id: "leaf",
        title: "Leaf",
        rows: 340,
        features: 14,
        classes: 30,
        contents: "shape and texture of leaves; the class is the species, 1 to 15 and 22 to 36",
        license: LICENSE,
        citation: "P. F. B. Silva, A. R. S. Marçal, R. M. Almeida da Silva, Evaluation of features for leaf \
                   discrimination, 2013",
        folder: "leaf",
        files: &[FileInfo {
            name: "leaf.csv",
            bytes: 41_619,
            sha256: "37e7fdefa5aabebe7eb03aa2f96a61e46a92aeb0dc9aade143064cb0802ba301",
            address: None,
        }],
        note: Some(
            "The SHA-256 is that of a mirror's copy, which has a header. The archive's own file has none and is inside \
             a ZIP file (00288/leaf.zip).",
        ),
        reader: readers::leaf,
    },
    DatasetInfo {
        id: "parkinsons",
        title: "Parkinsons",
        rows: 195,
        features: 22,
        classes: 2,
        contents: "measures of recorded voices; the class is 1 (Parkinson's disease) or 0",
        license: LICENSE,
        citation: "M. A. Little, P. E. McSharry, S. J. Roberts, D. A. E. Costello, I. M. Moroz, Exploiting nonlinear recurrence \
                   and fractal scaling properties for voice disorder detection, BioMedical Engineering OnLine 6:23, 2007",
        folder: "parkinsons",
        files: &[FileInfo {
            name: "parkinsons.data",
            bytes: 40_697,
            sha256: "a36116c2deac07895b79ce97a2f99a1b3720ac4892995ff5c3b9ccb397ed2bc5",
            address: Some("parkinsons/parkinsons.data"),
        }],
        note: None,
        reader: readers::parkinsons,
    },
    DatasetInfo {
        id: "blood-transfusion",
        title: "Blood Transfusion Service Center",
        rows: 748,
        features: 4,
        classes: 2,
        contents: "recency, frequency, amount and time of donations; the class is whether blood was given in March 2007",
        license: LICENSE,
        citation: "I-C. Yeh (owner and donor), 2008",
        folder: "blood_transfusion",
        files: &[FileInfo {
            name: "transfusion.data",
            bytes: 12_843,
            sha256: "96c8e1091b9c037bcaf25a19b24b49d07771cd88689ffd273e056e9e8845ffe7",
            address: Some("blood-transfusion/transfusion.data"),
        }],
        note: None,
        reader: readers::blood_transfusion,
    },
    DatasetInfo {
        id: "echocardiogram",
        title: "Echocardiogram",
        rows: 131,
        features: 9,
        classes: 2,
        contents: "measures after a heart attack, some missing; the class is whether the patient was still alive (1). The one row \
                   without that answer is dropped",
        license: LICENSE,
        citation: "E. Kinney (collector), S. Salzberg (donor), 1989",
        folder: "echocardiogram",
        files: &[FileInfo {
            name: "echocardiogram.data",
            bytes: 6_107,
            sha256: "3d7dc4b3daef837f1b3b3c042e561697d6add718a2d6694de824faf1f1e340d4",
            address: Some("echocardiogram/echocardiogram.data"),
        }],
        note: None,
        reader: readers::echocardiogram,
    },
    DatasetInfo {
        id: "kidney-disease",
        title: "Chronic Kidney Disease",
        rows: 400,
        features: 24,
        classes: 2,
        contents: "24 measures and answers (abnormal, present, yes and poor are 1), 1012 cells missing; the class is ckd or notckd",
        license: LICENSE,
        citation: "L. Rubini, P. Soundarapandian, P. Eswaran, 2015",
        folder: "chronic_kidney_disease",
        files: &[FileInfo {
            name: "chronic_kidney_disease.arff",
            bytes: 44_268,
            sha256: "0f3360c0e9239d3d211bfbbdedbe818e4569e6d7399e7398c9b464f6e8feeebe",
            address: None,
        }],
        note: Some("The archive has the file only inside another (00336/Chronic_Kidney_Disease.rar)."),
        reader: readers::kidney_disease,
    },
    DatasetInfo {
        id: "spect",
        title: "SPECT Heart",
        rows: 267,
        features: 22,
        classes: 2,
        contents: "binary features of heart images, 80 rows for training, then 187 for test; the class is the diagnosis, 1 or 0",
        license: LICENSE,
        citation: "K. J. Cios, L. A. Kurgan, L. S. Goodenday (owners), 2001",
        folder: "spect",
        files: &[
            FileInfo {
                name: "SPECT.train",
                bytes: 3_758,
                sha256: "0fd0258bfc8eb986623a45890676465ee92e738a95fdc01a6aef893d9c920115",
                address: Some("spect/SPECT.train"),
            },
            FileInfo {
                name: "SPECT.test",
                bytes: 8_787,
                sha256: "a152d1812a84da3ad18e759ac3433e57f407a6871c2f2fe0dda6779c90d58b82",
                address: Some("spect/SPECT.test"),
            },
        ],
        note: None,
        reader: readers::spect,
    },
    DatasetInfo {
        id: "spectf",
        title: "SPECTF Heart",
        rows: 267,
        features: 44,
        classes: 2,
        contents: "counts in regions of heart images, 80 rows for training, then 187 for test; the class is the diagnosis, 1 or 0",
        license: LICENSE,
        citation: "K. J. Cios, L. A. Kurgan, L. S. Goodenday (owners), 2001",
        folder: "spect",
        files: &[
            FileInfo {
                name: "SPECTF.train",
                bytes: 10_797,
                sha256: "9c837e4fd4b7931d9be5304989e39f284f35f767518ffd4dfd42a6a519a9f30c",
                address: Some("spect/SPECTF.train"),
            },
            FileInfo {
                name: "SPECTF.test",
                bytes: 33_459,
                sha256: "467a65c81e14a71c029fa58bf9350ecdf28ff072303b99a832e8606e193a3882",
                address: Some("spect/SPECTF.test"),
            },
        ],
        note: None,
        reader: readers::spectf,
    },
    DatasetInfo {
        id: "thoracic-surgery",
        title: "Thoracic Surgery",
        rows: 470,
        features: 22,
        classes: 2,
        contents: "preoperative data for lung surgery: the diagnosis as one column for each value, T and F as 1 and 0, grades as \
                   their number; the class is T for death within a year",
        license: LICENSE,
        citation: "M. Zięba, J. M. Tomczak, M. Lubicz, J. Świątek, Boosted SVM for extracting rules from imbalanced data in \
                   application to prediction of the post-operative life expectancy in the lung cancer patients, Applied Soft \
                   Computing, 2014",
        folder: "thoracic_surgery",
        files: &[FileInfo {
            name: "ThoraricSurgery.arff",
            bytes: 24_225,
            sha256: "a92b446b681138619ac3e210d5641744fe77b039c2b7219456a21533e36f3015",
            address: Some("00277/ThoraricSurgery.arff"),
        }],
        note: None,
        reader: readers::thoracic_surgery,
    },
    DatasetInfo {
        id: "arcene",
        title: "Arcene",
        rows: 200,
        features: 10_000,
        classes: 2,
        contents: "intensities of mass spectra, 100 rows for training, then 100 for validation; the class is 1 (cancer) or -1. The \
                   test part has no public classes and is not included",
        license: LICENSE,
        citation: "I. Guyon, S. Gunn, A. Ben-Hur, G. Dror, Result analysis of the NIPS 2003 feature selection challenge, 2004",
        folder: "arcene",
        files: &[
            FileInfo {
                name: "arcene_train.data",
                bytes: 2_715_483,
                sha256: "580f314d09fd3d67aa8b58a8250efb59a28d69a7d23a612a78a0b0cefc4d0264",
                address: Some("arcene/ARCENE/arcene_train.data"),
            },
            FileInfo {
                name: "arcene_train.labels",
                bytes: 256,
                sha256: "434bb813ff7e69d182eeed347f77bd4981917d6233efedd01b5f6d916c282fbe",
                address: Some("arcene/ARCENE/arcene_train.labels"),
            },
            FileInfo {
                name: "arcene_valid.data",
                bytes: 2_723_110,
                sha256: "7f8792b3cfb083c3b722e31b37a0c40604506bdece1d2db621e00d862da1c549",
                address: Some("arcene/ARCENE/arcene_valid.data"),
            },
            FileInfo {
                name: "arcene_valid.labels",
                bytes: 256,
                sha256: "b591228155de082dd39b2e85b12b75a55bd8ca057b7e1c0d7f54683d0a594fc3",
                address: Some("arcene/arcene_valid.labels"),
            },
        ],
        note: Some(
            "The SHA-256 are those of a mirror's copy, whose values are known to be correct; whether the archive's own bytes are the \
             same is unknown. If they differ, they are refused.",
        ),
        reader: readers::arcene,
    },
];

/// The set of that name; upper case, blanks and underscores do not matter.
pub fn find(name: &str) -> Result<&'static DatasetInfo> {
    let wanted = name.trim().to_lowercase().replace(['_', ' '], "-");
    DATASETS
        .iter()
        .find(|info| info.id == wanted)
        .ok_or_else(|| Error::Unknown { name: name.to_string(), advice: advice(&wanted) })
}

/// The names that may have been meant, or all of them.
fn advice(wanted: &str) -> String {
    let is_near = |id: &str| {
        let is_part = wanted.chars().count() >= 3 && (id.contains(wanted) || wanted.contains(id));
        is_part || edits(wanted, id) <= id.len() / 3
    };
    let near: Vec<&str> = DATASETS.iter().map(|info| info.id).filter(|id| is_near(id)).collect();
    match near[..] {
        [] => {
            let all: Vec<&str> = DATASETS.iter().map(|info| info.id).collect();
            format!("there are {}", all.join(", "))
        }
        _ => format!("did you mean {}?", near.join(" or ")),
    }
}

/// Edit distance: letters to add, drop or change to get from one word to the other.
fn edits(first: &str, second: &str) -> usize {
    let second: Vec<char> = second.chars().collect();
    let mut above: Vec<usize> = (0..=second.len()).collect();
    for (row, a) in first.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, b) in second.iter().enumerate() {
            let changed = above[column] + usize::from(a != *b);
            current.push(changed.min(above[column + 1] + 1).min(current[column] + 1));
        }
        above = current;
    }
    above[second.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_well_formed() {
        for (place, info) in DATASETS.iter().enumerate() {
            assert!(
                info.id.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'),
                "{}",
                info.id
            );
            assert!(DATASETS[..place].iter().all(|other| other.id != info.id), "{} twice", info.id);
            assert!(!info.files.is_empty() && info.rows > 0 && info.features > 0 && info.classes > 1);
            for file in info.files {
                assert!(
                    file.sha256.len() == 64
                        && file.sha256.bytes().all(|digit| b"0123456789abcdef".contains(&digit))
                );
                // Part files are stored next to it, and an output with that extension would be compressed.
                assert!(
                    !file.name.ends_with(".part")
                        && !file.name.ends_with(".gz")
                        && !file.name.ends_with(".zst")
                );
                // A file that cannot be downloaded has a reason.
                assert!(file.address.is_some() || info.note.is_some(), "{}", info.id);
            }
        }
    }

    #[test]
    fn names_are_forgiving_and_near_ones_are_told() {
        assert_eq!(find("Blood_Transfusion").unwrap().id, "blood-transfusion");
        let message = |name: &str| find(name).unwrap_err().to_string();
        assert_eq!(message("glas"), "there is no dataset 'glas'; did you mean glass?");
        assert!(message("breast-cancer").contains("breast-cancer-wisconsin or breast-cancer-diagnostic"));
        assert!(message("iris").contains("there are glass, ") && message("").contains("arcene"));
        assert_eq!((edits("kitten", "sitting"), edits("", "abc"), edits("é", "e")), (3, 3, 1));
    }
}
