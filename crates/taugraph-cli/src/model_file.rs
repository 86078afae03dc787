//! Models in files: the library's arrays and header, and the names that people know.

use serde::{Deserialize, Serialize};
use taugraph::model::{Model, ModelHeader, check_version};
use taugraph_io::{Output, Source, Tensors};

use crate::failure::{Failure, Outcome};
use crate::pipeline::{GraphPoints, Robust};
use crate::settings::Settings;
use crate::tensors::{arrays_of, tensors_of};

/// What the header of every model begins with.
const KIND: &str = "taugraph model";

/// What is said about a model beside its arrays. Unknown fields are refused: see [`taugraph::model::VERSION`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileHeader {
    pub kind: String,
    /// Version of the program that wrote it.
    pub program: String,
    /// The command that made it.
    pub command: String,
    pub preset: String,
    /// Names of the features.
    pub columns: Vec<String>,
    /// Names of the classes.
    pub classes: Vec<String>,
    pub model: ModelHeader,
}

/// As much of a header as tells whether the rest can be understood.
#[derive(Deserialize)]
struct Beginning {
    kind: String,
    model: Version,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The graph as a model; clusters and classes are still to be added.
pub fn model_of(robust: &Robust, points: &GraphPoints, settings: &Settings) -> Outcome<Model> {
    let params = settings.graph.clone().check()?;
    Ok(Model::new(&points.space, &robust.graph, &params)?.with_rule(points.rule.clone())?)
}

pub fn save(
    model: &Model,
    command: &str,
    settings: &Settings,
    columns: &[String],
    classes: &[String],
    output: &Output,
) -> Outcome<()> {
    let (header, arrays) = model.to_arrays();
    let header = FileHeader {
        kind: KIND.to_string(),
        program: env!("CARGO_PKG_VERSION").to_string(),
        command: command.to_string(),
        preset: settings.preset.clone(),
        columns: columns.to_vec(),
        classes: classes.to_vec(),
        model: header,
    };
    let metadata = serde_json::to_string(&header).expect("names and numbers are JSON");
    Ok(tensors_of(metadata, &arrays).write(output)?)
}

/// Reads a model that may come from anywhere.
pub fn load(source: &Source) -> Outcome<(FileHeader, Model)> {
    model_of_tensors(Tensors::read(source)?, &source.to_string())
}

fn model_of_tensors(tensors: Tensors<'static>, name: &str) -> Outcome<(FileHeader, Model)> {
    let refused =
        |problem: String| Failure::Input(format!("{name} is not a model to be used here: {problem}"));
    let beginning: Beginning = serde_json::from_str(&tensors.metadata)
        .map_err(|_| refused("its header is not that of a model".into()))?;
    if beginning.kind != KIND {
        return Err(refused("its header is not that of a model".into()));
    }
    // Before the rest of the header, which a newer program may write in another way.
    check_version(beginning.model.version).map_err(|error| refused(error.to_string()))?;
    let header: FileHeader =
        serde_json::from_str(&tensors.metadata).map_err(|error| refused(format!("its header: {error}")))?;
    let arrays = arrays_of(tensors).map_err(|error| refused(error.to_string()))?;
    let model =
        Model::from_arrays(header.model.clone(), arrays).map_err(|error| refused(error.to_string()))?;
    let n_columns = model.preparation().map(|rule| rule.n_columns());
    if n_columns != Some(header.columns.len()) || model.n_classes().unwrap_or(0) != header.classes.len() {
        return Err(refused("names of columns or classes are missing".into()));
    }
    Ok((header, model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use taugraph::cluster::{ClusterParams, spectral_clustering};
    use taugraph::distance::Metric;
    use taugraph::edges::Symmetrize;
    use taugraph::generators::uneven_blobs;
    use taugraph::neighbors::Space;
    use taugraph::params::{CandidatePairs, GraphParams, Preset};
    use taugraph::points::{PreparationParams, prepare};
    use taugraph::progress::Run;
    use taugraph::propagate::{LabeledNodes, PropagateParams, propagate};
    use taugraph::quantile::{Estimator, Neighborhood};
    use taugraph::robust::robust_graph;
    use taugraph::scale::FirstScale;

    /// A model of ten points with everything that a model can have.
    fn small_model() -> Model {
        let run = Run::new(0);
        let data = uneven_blobs(10, 3, 2, 1).unwrap();
        let params = GraphParams {
            candidates: CandidatePairs::Neighbors { k: 3, symmetrize: Symmetrize::Union },
            first_scale: FirstScale::KthNeighbor(2),
            estimator: Estimator::Neighborhood(Neighborhood { pool: 3, ..Default::default() }),
            ..Preset::Robust.params()
        };
        let params = params.check().unwrap();
        let preparation = PreparationParams { pca: Some(2), ..Default::default() };
        let prepared = prepare(data.points.values(), 3, &preparation, &run).unwrap();
        let space = Space::from_points(prepared.points.clone(), Metric::Euclidean).unwrap();
        let robust = robust_graph(&space, &params, &run).unwrap();
        let cluster = ClusterParams::exactly(2);
        let clustering = spectral_clustering(&robust.graph, &cluster, &run).unwrap();
        let labels = (0..10).map(|node| [Some(0), None, Some(1)][node % 3]).collect();
        let examples = LabeledNodes::new(labels, 2).unwrap();
        let spread = propagate(&robust.graph, &examples, &PropagateParams::default(), &run).unwrap();
        let model = Model::new(&space, &robust, &params).unwrap().with_preparation(&prepared).unwrap();
        let model = model.with_clusters(&robust, &clustering, &cluster).unwrap();
        model.with_classes(&spread).unwrap()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_model_comes_back_and_no_damaged_one_is_believed_or_feared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.safetensors");
        let model = small_model();
        let settings = Settings::default();
        let (columns, classes) = (names(&["a", "b", "c"]), names(&["no", "yes"]));
        save(&model, "cluster", &settings, &columns, &classes, &Output::new(&path)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let (points, _) = model.prepare(&[0.1, 0.2, 0.3, -4.0, 9.0, 2.0], 3).unwrap();
        let expected = model.place(&points, &Run::new(0)).unwrap();
        let read = |bytes: &[u8]| {
            let tensors = Tensors::read_from(bytes, Some(bytes.len() as u64), "m")?;
            model_of_tensors(tensors, "m")
        };
        let (header, back) = read(&whole).unwrap();
        assert_eq!((header.columns, header.classes), (columns, classes));
        assert_eq!(back.place(&points, &Run::new(0)).unwrap(), expected);
        assert_eq!(load(&Source::new(&path)).unwrap().1.place(&points, &Run::new(0)).unwrap(), expected);
        for length in 0..whole.len() {
            assert!(matches!(read(&whole[..length]), Err(Failure::Input(_))), "cut to {length}");
        }
        let mut n_refused = 0;
        for place in 0..whole.len() {
            for bit in [1, 0x40] {
                let mut changed = whole.clone();
                changed[place] ^= bit;
                match read(&changed) {
                    Err(Failure::Input(_)) => n_refused += 1,
                    Err(other) => panic!("byte {place}: {other}"),
                    // A changed number may still be a number. What is placed by it is wrong, but it is placed, or refused.
                    Ok((_, model)) => drop(model.place(&points, &Run::new(0))),
                }
            }
        }
        assert!(n_refused > whole.len() / 4, "{n_refused} of {}", 2 * whole.len());
    }
}
