//! Results as Markdown, CSV and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::experiment::Found;
use crate::statistics::{deviation, mean, paired};

/// The part of docs/RESULTS.md about one experiment.
pub fn markdown(found: &Found) -> String {
    let Found { experiment, .. } = found;
    let n_seeds = experiment.seeds.len();
    let mut text = format!("## {}\n\n{}", experiment.title, experiment.about);
    if n_seeds > 1 {
        let (first, last) = (experiment.seeds[0], experiment.seeds[n_seeds - 1]);
        write!(
            text,
            " Means ± standard deviations over the seeds {first} to {last}; the paper's figure in brackets."
        )
        .expect("text grows");
    } else {
        text += " The paper's figure in brackets.";
    }
    text += "\n\n";
    let largest = experiment.measures.iter().position(|measure| *measure == "largest class");
    let last = if largest.is_some() { (" largest class |", "---|") } else { ("", "") };
    writeln!(text, "| set | points | {} |{}", experiment.columns.join(" | "), last.0).expect("text grows");
    writeln!(text, "|---|---|{}{}", "---|".repeat(experiment.columns.len()), last.1).expect("text grows");
    for (r, row) in experiment.rows.iter().enumerate() {
        write!(text, "| {} | {} |", row.name, row.preparation).expect("text grows");
        for (c, column) in experiment.columns.iter().enumerate() {
            text += &format!(" {}", cell(found, r, c));
            if let Some((_, figure)) = row.published.iter().find(|(name, _)| name == column) {
                write!(text, " ({figure:.2})").expect("text grows");
            }
            text += " |";
        }
        if let Some(measure) = largest {
            write!(text, " {:.3} |", found.values(r, 0, measure)[0]).expect("text grows");
        }
        text += "\n";
    }
    text += &means(found);
    text += &comparisons(found);
    text += &times(found);
    text
}

/// `mean ± deviation` over the seeds, or with one seed all measures.
fn cell(found: &Found, row: usize, column: usize) -> String {
    let first = found.values(row, column, 0);
    match first.len() {
        1 if found.experiment.measures.len() > 1 => {
            let measured = &found.measured[row][column][0].values;
            format!("{:.3} / {:.3} ± {:.3}", measured[0], measured[1], measured[2])
        }
        1 => format!("{:.3}", first[0]),
        _ => format!("{:.2} ± {:.2}", mean(&first), deviation(&first)),
    }
}

fn means(found: &Found) -> String {
    let n_rows = found.experiment.rows.len();
    let of = |column: usize, measure: usize| {
        mean(&(0..n_rows).map(|row| mean(&found.values(row, column, measure))).collect::<Vec<_>>())
    };
    let n_measures = found.experiment.measures.len().min(2);
    let cells = (0..found.experiment.columns.len()).map(|column| {
        let of_measures: Vec<String> =
            (0..n_measures).map(|measure| format!("{:.3}", of(column, measure))).collect();
        format!(" {} |", of_measures.join(" / "))
    });
    format!("| **mean** | |{}\n", cells.collect::<String>())
}

fn comparisons(found: &Found) -> String {
    let experiment = &found.experiment;
    let name = experiment.measures[experiment.compared];
    let pairs = if experiment.seeds_are_pairs { "set and seed" } else { "set, its seeds averaged" };
    let mut text = format!(
        "\nPaired comparisons, one pair per {pairs} ({name}): mean difference ± standard error.\n\n\
         | comparison | difference | wins / ties / losses |\n|---|---|---|\n"
    );
    let values = |name: &str| -> Option<Vec<f64>> {
        let column = experiment.columns.iter().position(|column| *column == name)?;
        let of_row = |row: usize| {
            let values = found.values(row, column, experiment.compared);
            if experiment.seeds_are_pairs { values } else { vec![mean(&values)] }
        };
        Some((0..experiment.rows.len()).flat_map(of_row).collect())
    };
    for (a, b) in &experiment.comparisons {
        if let Some((of_a, of_b)) = values(a).zip(values(b)) {
            writeln!(text, "| {a} − {b} | {}", paired(&of_a, &of_b, 3)).expect("text grows");
        }
    }
    text
}

fn times(found: &Found) -> String {
    let experiment = &found.experiment;
    let mut text = format!(
        "\nSeconds per cell, summed over the seeds, on one core:\n\n| set | {} |\n|---|{}\n",
        experiment.columns.join(" | "),
        "---|".repeat(experiment.columns.len())
    );
    for (r, row) in experiment.rows.iter().enumerate() {
        let cells = (0..experiment.columns.len()).map(|column| format!(" {:.1} |", found.seconds(r, column)));
        writeln!(text, "| {} |{}", row.name, cells.collect::<String>()).expect("text grows");
    }
    text
}

/// Every value with all its digits: `set,method,seed,measure…`. Times are not in it, so that two runs give the same bits.
pub fn csv(found: &Found) -> String {
    let experiment = &found.experiment;
    let mut text = format!("set,method,seed,{}\n", experiment.measures.join(","));
    for (r, row) in experiment.rows.iter().enumerate() {
        for (c, column) in experiment.columns.iter().enumerate() {
            for (seed, measured) in experiment.seeds.iter().zip(&found.measured[r][c]) {
                let values: Vec<String> = measured.values.iter().map(|value| value.to_string()).collect();
                writeln!(text, "\"{}\",\"{column}\",{seed},{}", row.name, values.join(","))
                    .expect("text grows");
            }
        }
    }
    text
}

/// Everything, times included.
pub fn json(found: &Found) -> Value {
    let experiment = &found.experiment;
    let cells = (0..experiment.rows.len()).flat_map(|r| {
        let row = &experiment.rows[r];
        experiment.columns.iter().enumerate().map(move |(c, column)| {
            let published = row.published.iter().find(|(name, _)| name == column).map(|(_, figure)| figure);
            json!({
                "set": row.name,
                "points": row.preparation,
                "method": column,
                "published": published,
                "values": found.measured[r][c].iter().map(|measured| &measured.values).collect::<Vec<_>>(),
                "seconds": found.measured[r][c].iter().map(|measured| measured.seconds).collect::<Vec<_>>(),
            })
        })
    });
    json!({
        "experiment": experiment.name,
        "measures": experiment.measures,
        "seeds": experiment.seeds,
        "cells": cells.collect::<Vec<_>>(),
    })
}
