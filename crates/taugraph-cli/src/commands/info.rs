//! `taugraph info`.

use taugraph::memory;
use taugraph::points::Numbers;
use taugraph::progress::Run;
use taugraph_io::{Budget, Contents, DiskTable, Source, Table, is_safetensors};

use crate::args::InfoArgs;
use crate::dataset::{numbers_of, read_contents, read_disk_table};
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
    let limit = args.memory.or_else(memory::available);
    let features = Features::of_preparation(&args.input, &settings, &for_copies(), limit)?;
    let budget = Budget::of(limit);
    let source = Source::new(&settings.input.file);
    let name = source.to_string();
    // What is described shares the memory with what was read.
    let of_table = |table: &Table, values: Numbers<'_>| {
        let run = features.place(Run::new(0).with_memory_limit(limit.map(|_| budget.left())));
        of_table(&name, (table, values), &settings, &run, (args.json.is_some(), &budget))
    };
    let found = if let Some(read) = read_disk_table(&settings.input, &features, &budget) {
        let DiskTable { table, values } = read?;
        of_table(&table, numbers_of(&values))?
    } else if is_safetensors(&source, &budget)? {
        of_model(&name, &load_model(&source, &budget)?)
    } else {
        match read_contents(&settings.input, &budget)? {
            Contents::Sparse(matrix) => of_sparse(&name, matrix, None, &settings)?,
            Contents::Labeled(found) => of_sparse(&name, found.matrix, Some(found.labels), &settings)?,
            Contents::Table(table) => of_table(&table, numbers_of(&table.values))?,
        }
    };
    match &args.json {
        Some(path) => write_json(&found.json, path),
        None => print(&found.text),
    }
}
