//! Tables: one for all rows of a figure that have the same sides.

use super::{class, link};
use crate::eval::record::{Metric, Record, Row, Verdict};
use crate::report::grouped;
use crate::report::html::escape;
use crate::stats::median;

/// What rows of one table have in common: sides, and which are compared.
#[derive(PartialEq)]
struct Columns {
    sides: Vec<String>,
    pairs: Vec<(String, String)>,
}

pub(super) fn tables(records: &[&Record]) -> String {
    let mut tables: Vec<(Columns, Vec<(&Record, &Row)>)> = Vec::new();
    for record in records {
        for row in &record.measured.rows {
            let columns = Columns {
                sides: row.sides.iter().map(|side| side.side.clone()).collect(),
                pairs: row
                    .comparisons
                    .iter()
                    .map(|comparison| (comparison.side.clone(), comparison.against.clone()))
                    .collect(),
            };
            match tables.iter_mut().find(|(known, _)| *known == columns) {
                Some((_, rows)) => rows.push((record, row)),
                None => tables.push((columns, vec![(record, row)])),
            }
        }
    }
    tables.iter().map(|(columns, rows)| table(columns, rows)).collect()
}

fn table(columns: &Columns, rows: &[(&Record, &Row)]) -> String {
    let mut text = String::from("<div class=\"scroll\"><table>\n<thead><tr>");
    let heads = ["keys", "what", "quantity"].map(str::to_owned);
    let pairs = columns
        .pairs
        .iter()
        .map(|(side, against)| format!("{side} / {against}"));
    for head in heads.into_iter().chain(columns.sides.iter().cloned()).chain(pairs) {
        text += &format!("<th scope=\"col\">{}</th>", escape(&head));
    }
    text += "</tr></thead>\n<tbody>\n";
    for (record, row) in rows {
        let href = link(record);
        text += &format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td>",
            escape(&row.keys),
            escape(&row.workload),
            row.metric.name()
        );
        for side in &row.sides {
            let number = number(row.metric, median(&side.samples));
            text += &format!("<td><a href=\"{href}\">{number}</a></td>");
        }
        for comparison in &row.comparisons {
            let ratio = comparison.ratio;
            let exact = row.metric.exact();
            let words = if exact {
                format!("{:.2}", ratio.median)
            } else if comparison.verdict == Verdict::TooFewRounds {
                format!(
                    "{:.2} ({:.2} to {:.2}, {} rounds)",
                    ratio.median, ratio.low, ratio.high, comparison.rounds
                )
            } else {
                format!("{:.2} ({:.2} to {:.2})", ratio.median, ratio.low, ratio.high)
            };
            text += &format!(
                "<td class=\"{}\"><a href=\"{href}\">{words}</a></td>",
                class(comparison.verdict)
            );
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table></div>\n"
}

/// As many digits as mean something.
fn number(metric: Metric, number: f64) -> String {
    match metric {
        _ if !number.is_finite() => "-".to_owned(),
        Metric::Throughput => grouped(number),
        Metric::FlushTime | Metric::CompactionTime | Metric::IndexShare => format!("{number:.3}"),
        _ if number < 100.0 => format!("{number:.2}"),
        _ => grouped(number),
    }
}
