//! `taugraph params`: every parameter, from the library's own list.

use serde_json::json;
use taugraph::Config;
use taugraph::config::Parameter;
use taugraph_io::Output;

use crate::args::ParamsArgs;
use crate::failure::{Failure, Outcome};
use crate::report::write_json;

pub fn params(args: &ParamsArgs) -> Outcome<()> {
    let mut config = Config::default();
    if let Some(preset) = &args.preset {
        config.set("preset", preset.as_str())?;
    }
    let wanted = args.path.as_deref().unwrap_or_default();
    let list: Vec<Parameter> =
        config.list().into_iter().filter(|parameter| parameter.path.starts_with(wanted)).collect();
    if list.is_empty() {
        return Err(Failure::Usage(format!("no parameter begins with '{wanted}'")));
    }
    if let Some(path) = &args.json {
        let of = |parameter: &Parameter| {
            json!({
                "path": parameter.path,
                "default": parameter.default,
                "kind": parameter.kind,
                "range": parameter.range,
                "meaning": parameter.meaning,
                "only_with": parameter.only_with,
            })
        };
        return write_json(&json!(list.iter().map(of).collect::<Vec<_>>()), path);
    }
    Ok(Output::Stdout.write(|out| {
        for parameter in &list {
            let condition =
                parameter.only_with.as_ref().map_or(String::new(), |only| format!("  (with {only})"));
            writeln!(out, "{} = {}{condition}", parameter.path, shown(&parameter.default))?;
            let range =
                if parameter.range.is_empty() { String::new() } else { format!(", {}", parameter.range) };
            writeln!(out, "    {}{range}", parameter.kind)?;
            writeln!(out, "    {}", parameter.meaning)?;
        }
        Ok(())
    })?)
}

fn shown(value: &serde_json::Value) -> String {
    match value {
        // As it is set.
        serde_json::Value::Null => "none".to_string(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
