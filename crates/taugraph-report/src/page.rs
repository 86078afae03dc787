//! The page: a template, a style sheet, a script and the data, in one file that loads nothing.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use taugraph_io::{Output, Result};

use crate::base64::encode;
use crate::panels;
use crate::report::Report;

const TEMPLATE: &str = include_str!("assets/page.html");
/// The scripts that the panels' scripts use.
const FRAME: &str = concat!(
    include_str!("assets/script/elements.js"),
    include_str!("assets/script/points.js"),
    include_str!("assets/script/colors.js"),
    include_str!("assets/script/drawing.js"),
    include_str!("assets/script/point.js"),
    include_str!("assets/script/selection.js"),
    include_str!("assets/script/hand.js"),
    include_str!("assets/script/controls.js"),
    include_str!("assets/script/charts.js"),
);
const START: &str = include_str!("assets/script/start.js");
pub(crate) const STYLE: &str = include_str!("assets/page.css");

/// Writes the page.
pub fn write_page(report: &Report, target: &Output) -> Result<()> {
    let page = html(report);
    target.write(|out| out.write_all(page.as_bytes()))
}

/// The page.
pub fn html(report: &Report) -> String {
    let script = script();
    let parts = [
        ("{{policy}}", policy(Some(&script))),
        ("{{title}}", escaped(&report.title)),
        ("{{style}}", STYLE.to_string()),
        ("{{summary}}", escaped(&report.summary)),
        ("{{command}}", escaped(&report.command)),
        ("{{version}}", env!("CARGO_PKG_VERSION").into()),
        ("{{data}}", json_in_html(&data(report))),
        ("{{script}}", script),
    ];
    filled(TEMPLATE, &parts)
}

/// The content security policy: the page may run this one script, use this one style sheet and show embedded pictures. Nothing is
/// loaded from anywhere.
pub(crate) fn policy(script: Option<&str>) -> String {
    let hash = |text: &str| format!("'sha256-{}'", encode(&Sha256::digest(text.as_bytes())));
    let script = script.map_or("'none'".into(), hash);
    format!(
        "default-src 'none'; script-src {script}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE)
    )
}

/// Fills the template in one pass, so that placeholders within a part are not replaced.
pub(crate) fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    loop {
        let next = parts.iter().filter_map(|(mark, part)| rest.find(mark).map(|at| (at, mark, part)));
        let Some((at, mark, part)) = next.min_by_key(|(at, _, _)| *at) else { break };
        page.push_str(&rest[..at]);
        page.push_str(part);
        rest = &rest[at + mark.len()..];
    }
    page + rest
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// JSON that cannot close the element that contains it.
fn json_in_html(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Joins the files in one scope, with every panel in a nested scope of its own.
fn script() -> String {
    let panels: String = panels::ALL.iter().map(|kind| format!("{{\n{}}}\n", kind.script)).collect();
    format!("\"use strict\";\n{{\n{FRAME}{panels}{START}}}\n")
}

fn data(report: &Report) -> Value {
    let panels: Map<String, Value> =
        report.panels.iter().map(|(name, panel)| (name.to_string(), panel.json())).collect();
    let mut data = report.frame.json();
    data["facts"] = json!(report.facts);
    data["warnings"] = json!(report.warnings);
    data["panels"] = panels.into();
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_the_parts_are_not_filled_in() {
        let parts = [("{{a}}", "{{b}}".to_string()), ("{{b}}", "{{a}}".to_string())];
        assert_eq!(filled("{{a}} and {{b}}", &parts), "{{b}} and {{a}}");
    }

    #[test]
    fn the_policy_names_the_script_and_the_style() {
        let policy = policy(Some("alert(1)"));
        assert!(
            policy.starts_with(
                "default-src 'none'; script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
            ),
            "{policy}"
        );
    }

    /// A panel's script says `panels.NAME = …`, and its name is that of its folder.
    #[test]
    fn every_panel_has_a_script_of_its_name() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/panels");
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap());
        let mut folders: Vec<String> = entries
            .filter(|entry| entry.file_type().unwrap().is_dir())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        let mut names: Vec<&str> = panels::ALL.iter().map(|kind| kind.name).collect();
        folders.sort();
        names.sort_unstable();
        assert_eq!(names, folders, "the registry has every folder once");
        for kind in panels::ALL {
            let drawn = format!("\npanels.{} = (", kind.name);
            assert_eq!(kind.script.matches(&drawn).count(), 1, "{}", kind.name);
            assert_eq!(script().matches(&drawn).count(), 1, "{}", kind.name);
        }
    }
}
