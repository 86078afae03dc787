//! The page: a template, a style, a script and the data, in one file that may load nothing.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use taugraph_io::{Output, Result};

use crate::base64::{encode, packed_f64, packed_u8, packed_u16, packed_u32};
use crate::model::{Category, Group, Layout, NumberColumn, Report, ShownEdges};

const TEMPLATE: &str = include_str!("assets/page.html");
/// One after the other, in a scope of their own.
const SCRIPT: &str = concat!(
    "\"use strict\";\n{\n",
    include_str!("assets/script/elements.js"),
    include_str!("assets/script/points.js"),
    include_str!("assets/script/colors.js"),
    include_str!("assets/script/drawing.js"),
    include_str!("assets/script/point.js"),
    include_str!("assets/script/selection.js"),
    include_str!("assets/script/hand.js"),
    include_str!("assets/script/controls.js"),
    include_str!("assets/script/panels.js"),
    include_str!("assets/script/start.js"),
    "}\n"
);
pub(crate) const STYLE: &str = include_str!("assets/page.css");
/// Of a point without a class.
const NONE: u16 = u16::MAX;

/// Writes the page.
pub fn write_page(report: &Report, target: &Output) -> Result<()> {
    let page = html(report);
    target.write(|out| out.write_all(page.as_bytes()))
}

/// The page.
pub fn html(report: &Report) -> String {
    let parts = [
        ("{{policy}}", policy(Some(SCRIPT))),
        ("{{title}}", escaped(&report.title)),
        ("{{style}}", STYLE.to_string()),
        ("{{summary}}", escaped(&report.summary)),
        ("{{command}}", escaped(&report.command)),
        ("{{version}}", escaped(&report.version)),
        ("{{data}}", json_in_html(&data(report))),
        ("{{script}}", SCRIPT.to_string()),
    ];
    filled(TEMPLATE, &parts)
}

/// What the page may do: run this one script, use this one style, show pictures that are in it. Nothing is loaded from anywhere.
pub(crate) fn policy(script: Option<&str>) -> String {
    let hash = |text: &str| format!("'sha256-{}'", encode(&Sha256::digest(text.as_bytes())));
    let script = script.map_or("'none'".into(), hash);
    format!(
        "default-src 'none'; script-src {script}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE)
    )
}

/// Puts the parts into the template, in one pass: what a part contains is never taken for a mark.
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

/// Text as text.
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

/// JSON that cannot end the element it stands in.
fn json_in_html(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn data(report: &Report) -> Value {
    let points = &report.points;
    let compared = report.comparison.iter().map(|compared| {
        json!({ "graph": compared.graph, "agreement": compared.agreement, "score": compared.score })
    });
    json!({
        "facts": report.facts,
        "warnings": report.warnings,
        "preparation": report.preparation,
        "points": {
            "shown": points.rows.len(),
            "rows": packed_u32(points.rows.iter().copied()),
            "nodes": packed_u32(points.nodes.iter().copied()),
            "isSample": points.is_sample,
            "ids": points.ids,
            "note": points.note,
        },
        "layouts": report.layouts.iter().map(layout_json).collect::<Vec<_>>(),
        "categories": report.categories.iter().map(category_json).collect::<Vec<_>>(),
        "numbers": report.numbers.iter().map(number_json).collect::<Vec<_>>(),
        "edges": edges_json(&report.edges, points.rows.len()),
        "decay": report.decay.iter().map(|step| json!({
            "tau": step.tau, "edges": step.edges, "components": step.components, "largest": step.largest,
        })).collect::<Vec<_>>(),
        "moved": report.moved,
        "eigen": report.eigen.as_ref().map(|eigen| json!({
            "values": eigen.values, "gaps": eigen.gaps, "clusters": eigen.clusters, "suggested": eigen.suggested,
        })),
        "groups": report.groups.iter().map(group_json).collect::<Vec<_>>(),
        "groupsTitle": report.groups_title,
        "comparison": compared.collect::<Vec<_>>(),
        "comparisonNote": report.comparison_note,
        "scoreName": report.score_name,
        "stages": report.stages,
        "settings": report.settings,
    })
}

/// Positions as whole numbers in a square, equal scales on both axes: a screen has no more places.
fn layout_json(layout: &Layout) -> Value {
    let ranges = [0, 1].map(|axis| {
        let values = layout.xy.iter().skip(axis).step_by(2).copied().filter(|value| value.is_finite());
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    });
    let side = ranges.iter().map(|(low, high)| high - low).fold(f64::MIN_POSITIVE, f64::max);
    let whole = layout.xy.iter().enumerate().map(|(place, value)| {
        let (low, high) = ranges[place % 2];
        let share = 0.5 + (value - 0.5 * (low + high)) / side;
        (if share.is_finite() { share.clamp(0.0, 1.0) * 65535.0 } else { 32767.0 }).round() as u16
    });
    json!({ "name": layout.name, "note": layout.note, "xy": packed_u16(whole) })
}

fn category_json(category: &Category) -> Value {
    let of =
        category.of.iter().map(|class| class.map_or(NONE, |class| class.min(u32::from(NONE) - 1) as u16));
    json!({ "name": category.name, "classes": category.classes, "of": packed_u16(of) })
}

fn number_json(column: &NumberColumn) -> Value {
    let values = packed_f64(column.values.iter().copied());
    json!({ "name": column.name, "role": column.role.name(), "values": values })
}

/// How many edges each point has to higher ones, then those, their levels and probabilities.
fn edges_json(shown: &ShownEdges, n_points: usize) -> Value {
    let mut counts = vec![0u16; n_points];
    shown.edges.iter().for_each(|edge| counts[edge.i as usize] += 1);
    let targets = || shown.edges.iter().map(|edge| edge.j);
    let targets = match n_points <= usize::from(u16::MAX) {
        true => packed_u16(targets().map(|j| j as u16)),
        false => packed_u32(targets()),
    };
    let share = |probability: f64| (probability.clamp(0.0, 1.0) * 255.0).round() as u8;
    json!({
        "taus": shown.taus,
        "note": shown.note,
        "counts": packed_u16(counts),
        "targets": targets,
        "levels": packed_u8(shown.edges.iter().map(|edge| edge.level)),
        "probabilities": packed_u8(shown.edges.iter().map(|edge| share(edge.probability))),
    })
}

fn group_json(group: &Group) -> Value {
    json!({
        "index": group.index,
        "name": group.name,
        "size": group.size,
        "stability": group.stability,
        "margin": group.margin,
        "label": group.label.as_ref().map(|(name, share)| json!({ "name": name, "share": share })),
        "columns": group.columns.iter().map(|column| json!({
            "name": column.name, "mean": column.mean, "all": column.all,
        })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Edge, ShownPoints};

    fn hostile() -> Report {
        let evil = "</script><script>alert(1)</script>{{script}}<!-- \u{2028} \"'&";
        Report {
            title: evil.into(),
            summary: evil.into(),
            warnings: vec![evil.into()],
            points: ShownPoints {
                nodes: vec![0, 1],
                is_sample: false,
                rows: vec![1, 2],
                ids: Some(vec![evil.into(), "b".into()]),
                note: evil.into(),
            },
            categories: vec![Category {
                name: evil.into(),
                classes: vec![evil.into()],
                of: vec![Some(0), None],
            }],
            layouts: vec![Layout { name: evil.into(), note: evil.into(), xy: vec![0.0, 1.0, 2.0, 2.0] }],
            edges: ShownEdges {
                taus: vec![0.1],
                edges: vec![Edge { i: 0, j: 1, level: 1, probability: 0.5 }],
                note: evil.into(),
            },
            ..Report::default()
        }
    }

    #[test]
    fn text_stays_text() {
        let page = html(&hostile());
        assert_eq!(page.matches("<script").count(), 2, "the data and the one script");
        assert_eq!(page.matches("</script>").count(), 2);
        assert_eq!(page.matches("\"use strict\"").count(), 1, "marks in the data are not filled in");
        assert!(!page.contains("<!--"));
    }

    #[test]
    fn the_data_can_be_read_back() {
        let page = html(&hostile());
        let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
        let end = start + page[start..].find("</script>").unwrap();
        let data: Value = serde_json::from_str(&page[start..end]).unwrap();
        assert_eq!(data["points"]["ids"][0], hostile().points.ids.unwrap()[0]);
        assert_eq!(data["edges"]["counts"]["base64"], "AQAAAA==");
        // In the middle of the shorter axis, and at both ends of the longer one.
        assert_eq!(data["layouts"][0]["xy"]["base64"], encode(&[0, 0, 0, 64, 255, 255, 255, 191]));
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
}
