//! The table for the terminal.

use comfy_table::{CellAlignment, Table, presets};

use super::{Outcome, Report, grouped, optional, sentence};
use crate::stats::median;

pub(super) const COLUMNS: [&str; 8] = [
    "keys",
    "workload",
    "a: op/s",
    "b: op/s",
    "ratio b/a",
    "95% interval",
    "index bytes/block a | b",
    "flushes a | b",
];

/// The whole report as plain text.
pub fn text(report: &Report<'_>) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(COLUMNS);
    for outcome in &report.results {
        table.add_row(row(outcome));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("{table}\n\n");
    for outcome in &report.results {
        text += &format!("{}\n", sentence(outcome));
    }
    text += "\nSides:\n";
    for line in side_lines(report) {
        text += &format!("  {line}\n");
    }
    text += "\nBoth sides:\n";
    for line in report.shared_settings() {
        text += &format!("  {line}\n");
    }
    text
}

/// The sides with their option strings, each once, with the workloads they were used in.
pub(super) fn side_lines(report: &Report<'_>) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    let sides = |outcome: &Outcome| {
        let stated = |options: &str| {
            if options.is_empty() {
                "RocksDB's defaults"
            } else {
                options
            }
            .to_owned()
        };
        [
            format!("a = {}: {}", outcome.against, stated(&outcome.options.a)),
            format!("b = {}: {}", outcome.b_name, stated(&outcome.options.b)),
        ]
    };
    for which in 0..2 {
        for outcome in &report.results {
            let line = sides(outcome)[which].clone();
            let workload = outcome.workload.name();
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, workloads)) if workloads.contains(&workload) => {}
                Some((_, workloads)) => workloads.push(workload),
                None => lines.push((line, vec![workload])),
            }
        }
    }
    lines
        .into_iter()
        .map(|(line, workloads)| format!("{line} ({})", workloads.join(", ")))
        .collect()
}

pub(super) fn row(outcome: &Outcome) -> [String; 8] {
    let index = &outcome.index_bytes_per_block;
    [
        outcome.keys.clone(),
        outcome.workload.to_string(),
        grouped(median(&outcome.a_ops_per_sec)),
        grouped(median(&outcome.b_ops_per_sec)),
        format!("{:.3}", outcome.ratio.median),
        format!("{:.3} to {:.3}", outcome.ratio.low, outcome.ratio.high),
        format!("{} | {}", optional(index.a, 2), optional(index.b, 2)),
        format!("{} | {}", outcome.flushes.a, outcome.flushes.b),
    ]
}
