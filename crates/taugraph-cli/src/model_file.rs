//! Models in files: what the library saves, with the names that the table and the command have for things.

use std::path::Path;

use serde_json::{Value, json};
use taugraph::Error;
use taugraph::model::Model;
use taugraph_io::{Budget, Metered, Output, Source};

use crate::dataset::Kind;
use crate::failure::{Failure, Outcome};
use crate::settings::Settings;

/// A model is made of points; to be found out before the work.
pub fn check_model_input(path: Option<&Path>, kind: Kind) -> Outcome<()> {
    let message = match kind {
        _ if path.is_none() => return Ok(()),
        Kind::Points => return Ok(()),
        Kind::Sparse => {
            "--save-model needs a dense table of points: new rows cannot be placed among sparse ones"
        }
        Kind::Distances | Kind::Graph => {
            "--save-model needs a table of points: new ones cannot be placed among distances or into a given graph"
        }
    };
    Err(Failure::Usage(message.into()))
}

/// How a model was made, as far as this program knows.
pub struct Origin<'a> {
    pub command: &'static str,
    pub settings: &'a Settings,
}

/// Saves a model with the names of its columns, the names of its classes if it has any, and how it was made.
pub fn save_model(
    model: Model,
    origin: &Origin<'_>,
    columns: &[String],
    classes: &[String],
    path: &Path,
) -> Outcome<()> {
    let settings =
        serde_json::to_value(origin.settings).map_err(|error| Failure::Computation(error.to_string()))?;
    let origin = json!({
        "program": concat!("taugraph ", env!("CARGO_PKG_VERSION")),
        "command": origin.command,
        "settings": settings,
    });
    let mut model = model.with_columns(columns.to_vec())?.with_origin(origin);
    if !classes.is_empty() {
        model = model.with_class_names(classes.to_vec())?;
    }
    Ok(Output::new(path).write(|out| Ok(model.save(out)?))?)
}

/// What a model takes for each of its bytes: its arrays, and what is made of them.
const MODEL_TIMES: u64 = 2;

/// Loads a model that may come from anywhere.
pub fn load_model(source: &Source, budget: &Budget) -> Outcome<Model> {
    let (bytes, size) = (source.open(budget)?, source.size()?);
    if let Some(size) = size {
        // Refused before anything is allocated for it.
        drop(budget.hold(size.saturating_mul(MODEL_TIMES), &source.to_string())?);
    }
    let mut metered = Metered::new(bytes, MODEL_TIMES, budget);
    match Model::load(&mut metered, size) {
        Ok(model) => {
            metered.keep();
            Ok(model)
        }
        Err(error) => Err(match (metered.refused(&source.to_string()), error) {
            (Some(refused), _) => refused.into(),
            (None, error @ Error::Memory { .. }) => error.into(),
            (None, error) => Failure::Input(format!("{source} cannot be used as a model: {error}")),
        }),
    }
}

/// Names of the raw columns; counted, as those of a table without a header, where the model has none.
pub fn columns_of(model: &Model) -> Vec<String> {
    match model.columns() {
        Some(names) => names.to_vec(),
        None => (1..=model.n_raw_columns()).map(|column| format!("column_{column}")).collect(),
    }
}

/// Names of the classes; counted from 0 where the model has none.
pub fn classes_of(model: &Model) -> Vec<String> {
    match model.class_names() {
        Some(names) => names.to_vec(),
        None => (0..model.n_classes().unwrap_or(0)).map(|class| class.to_string()).collect(),
    }
}

/// A text from what this program keeps of a model's origin, for example `/command`.
pub fn origin_of<'a>(model: &'a Model, pointer: &str) -> Option<&'a str> {
    model.origin().and_then(|origin| origin.pointer(pointer)).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use taugraph::RobustGraph;
    use taugraph::generators::uneven_blobs;

    fn small_model() -> Model {
        RobustGraph::new().fit(&uneven_blobs(40, 2, 2, 1).unwrap()).unwrap().model().unwrap()
    }

    #[test]
    fn names_and_origin_are_kept_with_a_model() {
        let folder = tempfile::tempdir().unwrap();
        let columns = vec!["a".to_string(), "b".to_string()];
        for name in ["m.safetensors", "m.safetensors.gz", "m.safetensors.zst"] {
            let path = folder.path().join(name);
            let origin = Origin { command: "graph", settings: &Settings::default() };
            save_model(small_model(), &origin, &columns, &[], &path).unwrap();
            let back = load_model(&Source::new(&path), Budget::unlimited()).unwrap();
            assert_eq!((columns_of(&back), classes_of(&back)), (columns.clone(), Vec::new()), "{name}");
            assert_eq!(origin_of(&back, "/command"), Some("graph"));
            assert_eq!(origin_of(&back, "/settings/params/preset"), Some("robust"));
            assert_eq!(origin_of(&back, "/settings/nothing"), None);
            assert_eq!(back.layer_sizes(), [0; 0], "the model has none");
        }
    }

    #[test]
    fn a_model_without_names_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.safetensors");
        std::fs::write(&path, small_model().to_bytes().unwrap()).unwrap();
        let back = load_model(&Source::new(&path), Budget::unlimited()).unwrap();
        assert_eq!(columns_of(&back), ["column_1", "column_2"]);
        assert_eq!(origin_of(&back, "/command"), None);
        std::fs::write(&path, b"nothing of that kind").unwrap();
        assert!(matches!(load_model(&Source::new(&path), Budget::unlimited()), Err(Failure::Input(_))));
    }
}
