//! What each cluster is: its typical rows, the columns that set it apart, a short rule.

use std::fmt::Write;

use serde_json::{Value, json};
use taugraph::cluster::{Condition, DistinctColumn, ShallowRule};
use taugraph::{Explanation, FittedClusters, Table};
use taugraph_terminal::visible_in_line;

use super::{grouped, significant};
use crate::args::ClusterCommand;
use crate::dataset::{Dataset, Kind};
use crate::failure::{Failure, Outcome};

/// Tables of more rows are explained only if that is asked for.
const MAX_ROWS: usize = 200_000;

/// Of all clusters.
pub struct Explanations {
    of_clusters: Vec<Explanation>,
    /// Whether people want to read them; JSON has them all the same.
    pub(super) is_asked: bool,
}

impl Explanations {
    /// Before the work: whether there are columns to explain clusters by, if that is asked for.
    pub fn check(is_asked: bool, kind: Kind) -> Outcome<()> {
        if is_asked && kind != Kind::Points {
            let message = "--explain needs a dense table of points: only its columns can set clusters apart";
            return Err(Failure::Usage(message.into()));
        }
        Ok(())
    }

    /// Whether the table is needed after the fit: for people if they ask, for JSON if it is not too large.
    pub fn are_wanted(args: &ClusterCommand, n_rows: usize) -> bool {
        args.explain || args.run.json.is_some() && n_rows <= MAX_ROWS
    }

    /// Of clusters in a table, if it was kept.
    pub fn new(found: &FittedClusters, table: Option<&Table<'_>>, is_asked: bool) -> Outcome<Option<Self>> {
        let Some(table) = table else { return Ok(None) };
        Ok(Some(Self { of_clusters: found.explain(table)?, is_asked }))
    }

    pub(super) fn json(&self, names: &[String]) -> Value {
        let condition = |condition: &Condition| {
            json!({
                "column": names[condition.column],
                "is": if condition.is_above { "above" } else { "at most" },
                "threshold": condition.threshold,
            })
        };
        let rule = |rule: &ShallowRule| {
            json!({
                "conditions": rule.conditions.iter().map(condition).collect::<Vec<_>>(),
                "precision": rule.precision,
                "recall": rule.recall,
            })
        };
        let explanation = |(cluster, explanation): (usize, &Explanation)| {
            json!({
                "cluster": cluster,
                "size": explanation.size,
                "typical_rows": explanation.typical_rows,
                "columns": explanation.columns.iter().map(|column| json!({
                    "column": names[column.column],
                    "mean": column.mean,
                    "mean_outside": column.mean_outside,
                    "standardized_difference": column.standardized_difference,
                })).collect::<Vec<_>>(),
                "rule": explanation.rule.as_ref().map(rule),
            })
        };
        self.of_clusters.iter().enumerate().map(explanation).collect()
    }

    /// Rows by their names if they have any, otherwise counted from 0.
    pub(super) fn write_text(&self, dataset: &Dataset, text: &mut String) -> std::fmt::Result {
        let row = |row: &usize| {
            dataset.ids.as_ref().map_or(row.to_string(), |ids| visible_in_line(&ids.of_rows[*row]).into())
        };
        let names = &dataset.features;
        for (cluster, explanation) in self.of_clusters.iter().enumerate() {
            let typical: Vec<String> = explanation.typical_rows.iter().map(row).collect();
            let size = grouped(explanation.size);
            writeln!(text, "cluster {cluster}: {size} rows, typical ones {}", typical.join(", "))?;
            let differs = |column: &&DistinctColumn| column.standardized_difference.abs() >= 0.1;
            for column in explanation.columns.iter().filter(differs) {
                writeln!(
                    text,
                    "          {}: mean {}, elsewhere {} ({:+.1} standard deviations)",
                    visible_in_line(&names[column.column]),
                    significant(column.mean),
                    significant(column.mean_outside),
                    column.standardized_difference
                )?;
            }
            if let Some(rule) = &explanation.rule {
                writeln!(text, "          rule: {}", rule_text(rule, names))?;
            }
        }
        Ok(())
    }
}

fn rule_text(rule: &ShallowRule, names: &[String]) -> String {
    let condition = |condition: &Condition| {
        let sign = if condition.is_above { ">" } else { "<=" };
        format!("{} {sign} {}", visible_in_line(&names[condition.column]), significant(condition.threshold))
    };
    let conditions: Vec<String> = rule.conditions.iter().map(condition).collect();
    format!("{} (precision {:.2}, recall {:.2})", conditions.join(" and "), rule.precision, rule.recall)
}
