//! `taugraph-lab datasets`.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};
use taugraph::error::human_bytes;
use taugraph_io::Output;
use taugraph_lab::datasets::registry::ARCHIVE;
use taugraph_lab::datasets::{DATASETS, DatasetInfo, Error, Origin, Presence, Store, fetch, find};
use taugraph_terminal::failure::{Failure, Outcome};
use taugraph_terminal::progress::Terminal;
use taugraph_terminal::{grouped, say, write_json};

use crate::args::{DatasetsArgs, DatasetsCommand, FetchArgs};

pub fn datasets(args: &DatasetsArgs) -> Outcome<()> {
    let store = Store::from_environment();
    match &args.command {
        DatasetsCommand::List { json } => {
            let sets: Vec<(&DatasetInfo, Presence)> =
                DATASETS.iter().map(|info| (info, store.presence(info))).collect();
            let values = || sets.iter().map(|(info, presence)| description(info, presence)).collect();
            publish(json.as_deref(), values, || list(&sets))
        }
        DatasetsCommand::Show { name, json } => {
            let info = find(name)?;
            let presence = store.presence(info);
            publish(json.as_deref(), || description(info, &presence), || show(info, &presence))
        }
        DatasetsCommand::Fetch(args) => fetch_all(args, &store),
        DatasetsCommand::Path { name } => {
            let (folder, _) = store.read(find(name)?)?;
            // Printed as raw bytes: a folder need not be UTF-8.
            Ok(Output::Stdout.write(|out| {
                out.write_all(folder.as_os_str().as_encoded_bytes())?;
                out.write_all(b"\n")
            })?)
        }
    }
}

fn publish(json: Option<&Path>, value: impl Fn() -> Value, text: impl Fn() -> String) -> Outcome<()> {
    match json {
        Some(path) => write_json(&value(), path),
        None => Ok(Output::Stdout.write(|out| out.write_all(text().as_bytes()))?),
    }
}

fn state(presence: &Presence) -> &'static str {
    match presence {
        Presence::Here(_) => "yes",
        Presence::Partial => "in part",
        Presence::Altered(_) => "altered",
        Presence::Absent => "no",
    }
}

fn list(sets: &[(&DatasetInfo, Presence)]) -> String {
    let mut text = format!("{:26}{:>6}{:>10}{:>9}  here\n", "name", "rows", "features", "classes");
    for (info, presence) in sets {
        let (rows, features) = (grouped(info.rows), grouped(info.features));
        let _ =
            writeln!(text, "{:26}{rows:>6}{features:>10}{:>9}  {}", info.id, info.classes, state(presence));
    }
    text
}

fn show(info: &DatasetInfo, presence: &Presence) -> String {
    let mut text = format!(
        "{} ({})\n{} rows, {} features, {} classes\n{}\n\n",
        info.title,
        info.id,
        grouped(info.rows),
        grouped(info.features),
        info.classes,
        info.contents
    );
    let here = match presence {
        Presence::Here(folder) => format!("yes, in {}", folder.display()),
        Presence::Altered(problem) => format!("altered: {problem}"),
        Presence::Partial | Presence::Absent => {
            format!("{}; get it with: taugraph-lab datasets fetch {}", state(presence), info.id)
        }
    };
    let mut lines =
        vec![("license", info.license.to_string()), ("cite", info.citation.to_string()), ("here", here)];
    lines.extend(info.note.map(|note| ("note", note.to_string())));
    for (name, value) in lines {
        let _ = writeln!(text, "{name:9}{value}");
    }
    for file in info.files {
        let from =
            file.address.map_or(String::new(), |address| format!("\n         from    {ARCHIVE}{address}"));
        let _ = writeln!(
            text,
            "file     {} ({} bytes)\n         sha256  {}{from}",
            file.name,
            grouped(file.bytes as usize),
            file.sha256
        );
    }
    text
}

fn description(info: &DatasetInfo, presence: &Presence) -> Value {
    let folder = match presence {
        Presence::Here(folder) => Some(folder.to_string_lossy().into_owned()),
        _ => None,
    };
    json!({
        "name": info.id,
        "title": info.title,
        "rows": info.rows,
        "features": info.features,
        "classes": info.classes,
        "contents": info.contents,
        "license": info.license,
        "citation": info.citation,
        "note": info.note,
        "here": state(presence),
        "folder": folder,
        "files": info.files.iter().map(|file| json!({
            "name": file.name,
            "bytes": file.bytes,
            "sha256": file.sha256,
            "url": file.address.map(|address| format!("{ARCHIVE}{address}")),
        })).collect::<Vec<_>>(),
    })
}

/// A set that is unavailable does not keep the others from being fetched; an unreachable server, Ctrl-C and a write error
/// do.
fn fetch_all(args: &FetchArgs, store: &Store) -> Outcome<()> {
    let sets: Vec<&DatasetInfo> = match args.all {
        true => DATASETS.iter().collect(),
        false => args.names.iter().map(|name| find(name)).collect::<Result<_, _>>()?,
    };
    let origin = args.from.as_deref().map_or(Ok(Origin::Archive), Origin::parse)?;
    let terminal = Terminal::new(args.quiet);
    let mut refused: Vec<(&str, Failure)> = Vec::new();
    for info in &sets {
        let fetched = fetch(info, &origin, store, &terminal);
        terminal.finish();
        match fetched {
            Ok(fetched) if !args.quiet => {
                let how = if fetched.was_here { "already here".into() } else { human_bytes(info.bytes()) };
                say(&format!("{}: {how}, checked, in {}\n", info.id, fetched.folder.display()));
            }
            Ok(_) => {}
            Err(
                error @ (Error::Transfer { .. } | Error::Canceled | Error::Write { .. } | Error::NoFolder),
            ) => return Err(error.into()),
            Err(error) => refused.push((info.id, error.into())),
        }
    }
    match refused.len() {
        0 => Ok(()),
        1 if sets.len() == 1 => Err(refused.remove(0).1),
        count => {
            for (_, failure) in &refused {
                say(&format!("error: {failure}\n"));
            }
            let names: Vec<&str> = refused.iter().map(|(id, _)| *id).collect();
            let message = format!("{count} of {} sets were not fetched: {}", sets.len(), names.join(", "));
            Err(Failure::Input(message))
        }
    }
}
