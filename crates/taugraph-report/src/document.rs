//! A page of text, tables and figures, without a script.

use std::fmt::Write;

use taugraph_io::{Output, Result};

use crate::base64::encode;
use crate::page::{STYLE, escaped, filled, policy};

const TEMPLATE: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta http-equiv=\"Content-Security-Policy\" content=\"{{policy}}\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<title>{{title}}</title>
<style>{{style}}</style>
</head>
<body>
<header><h1>{{title}}</h1></header>
<main>
{{parts}}</main>
<footer><p>Made by taugraph {{version}}. This file needs no network.</p></footer>
</body>
</html>
";

/// A page.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The title.
    pub title: String,
    /// Version of the program.
    pub version: String,
    /// Its contents, from top to bottom.
    pub parts: Vec<Part>,
}

/// A part of a page.
#[derive(Debug, Clone)]
pub enum Part {
    /// A heading that begins a section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Cells row by row; the first row is the header.
    Table(Vec<Vec<String>>),
    /// A figure.
    Figure {
        /// As SVG.
        svg: Vec<u8>,
        /// What it shows.
        says: String,
    },
}

/// Writes the page.
pub fn write_document(document: &Document, target: &Output) -> Result<()> {
    let mut parts = String::new();
    for part in &document.parts {
        // Writing to a string cannot fail.
        let _ = write_part(part, &mut parts);
    }
    let page = filled(
        TEMPLATE,
        &[
            ("{{policy}}", policy(None)),
            ("{{title}}", escaped(&document.title)),
            ("{{style}}", STYLE.to_string()),
            ("{{parts}}", parts),
            ("{{version}}", escaped(&document.version)),
        ],
    );
    target.write(|out| out.write_all(page.as_bytes()))
}

fn write_part(part: &Part, page: &mut String) -> std::fmt::Result {
    match part {
        Part::Heading(text) => writeln!(page, "<h2>{}</h2>", escaped(text)),
        Part::Text(text) => writeln!(page, "<p dir=\"auto\">{}</p>", escaped(text)),
        Part::Figure { svg, says } => {
            let (data, says) = (encode(svg), escaped(says));
            writeln!(
                page,
                "<p><img class=\"figure\" alt=\"{says}\" src=\"data:image/svg+xml;base64,{data}\"></p>"
            )
        }
        Part::Table(rows) => {
            writeln!(page, "<div class=\"scroll\"><table>")?;
            for (place, row) in rows.iter().enumerate() {
                let (before, cell, after) = match place {
                    0 => ("<thead>", "th scope=\"col\"", "</thead><tbody>"),
                    _ => ("", "td", ""),
                };
                write!(page, "{before}<tr>")?;
                for text in row {
                    write!(page, "<{cell} dir=\"auto\">{}</{}>", escaped(text), &cell[..2])?;
                }
                writeln!(page, "</tr>{after}")?;
            }
            writeln!(page, "</tbody></table></div>")
        }
    }
}
