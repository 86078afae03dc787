//! Text for people, JSON for machines.

use std::io::Write;
use std::path::Path;

use serde_json::Value;
use taugraph_io::Output;

use crate::failure::Outcome;
use crate::visible::visible;

/// Writes to standard error, control characters made visible; if that fails, there is nobody to report it to.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(visible(text).as_bytes());
}

/// Writes JSON to a file; `-` is standard output.
pub fn write_json(value: &Value, path: &Path) -> Outcome<()> {
    Ok(Output::new(path).write(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })?)
}
