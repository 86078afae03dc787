//! `taugraph info`.

use taugraph::progress::Run;
use taugraph_io::{Contents, DiskTable, Source, is_safetensors};

use crate::args::InfoArgs;
use crate::dataset::{read_contents, read_disk_table};
use crate::description::{for_copies, of_model, of_sparse, of_table};
use crate::failure::Outcome;
use crate::features::Features;
use crate::model_file::load_model;
use crate::outputs::print;
use crate::report::write_json;
use crate::settings::Settings;

pub fn info(args: &InfoArgs) -> Outcome<()> {
    let mut settings = Settings::default();
    settings.apply_input(&args.input)?;
    args.params.apply(&mut settings.params)?;
    let run = Run::new(0);
    let features = Features::of_preparation(&args.input, &settings, &for_copies(), run.memory_limit)?;
    let run = features.place(run);
    let source = Source::new(&settings.input.file);
    let name = source.to_string();
    let found = if let Some(read) = read_disk_table(&settings.input, &features) {
        let DiskTable { table, values } = read?;
        of_table(&name, &table, values.as_ref(), &settings, &run)?
    } else if is_safetensors(&source)? {
        of_model(&name, &load_model(&source)?)
    } else {
        match read_contents(&settings.input)? {
            Contents::Sparse(matrix) => of_sparse(&name, matrix, None, &settings)?,
            Contents::Labeled(found) => of_sparse(&name, found.matrix, Some(found.labels), &settings)?,
            Contents::Table(table) => of_table(&name, &table, &table.values, &settings, &run)?,
        }
    };
    match &args.json {
        Some(path) => write_json(&found.json, path),
        None => print(&found.text),
    }
}
