//! The report: one HTML page that asks for nothing from elsewhere, made from the records alone.

mod curves;
mod summary;
mod table;

use std::collections::BTreeSet;

pub use summary::{Overview, overview};

use super::figure::Figure;
use super::record::{Comparison, Metric, Record, Row, Verdict};
use super::systems::SYSTEMS;
use crate::report::chart::{Bar, ratio_chart};
use crate::report::html::{STYLE, escape};

/// File name of the page.
pub const PAGE: &str = "report.html";

const MORE_STYLE: &str = "
td a { color: inherit; text-decoration: none; } td a:hover { text-decoration: underline; }
td.win { color: var(--win); font-weight: 600; } td.loss { color: var(--loss); font-weight: 600; } td.none { color: var(--none); }
.scroll { overflow-x: auto; } .plot { background: #fff; border-radius: 4px; max-width: 56rem; margin: 1rem 0; }
.legend { color: #222; margin: 0; padding: .4rem 1rem; } .legend span { border-left: 1.2em solid; padding: 0 .8em 0 .4em; line-height: 1; }
.error { color: var(--loss); } details { margin: .5rem 0; } nav a { margin-right: 1rem; }
";

/// The page for `records`: all of them, the failed ones too.
pub fn page(records: &[Record]) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    // Without it a browser asks for /favicon.ico.
    page += "<link rel=\"icon\" href=\"data:,\">\n<title>mountdb eval</title>\n";
    page += &format!("<style>{STYLE}{MORE_STYLE}</style>\n</head>\n<body>\n");
    page += "<h1>mountdb against RocksDB: the paper's evaluation</h1>\n<nav>";
    for figure in present(records) {
        page += &format!("<a href=\"#figure-{figure}\">{}</a>", escape(label(figure)));
    }
    page += "</nav>\n";
    page += &summary::summary(records);
    page += &how(records);
    for figure in present(records) {
        page += &section(figure, records);
    }
    page + "</body>\n</html>\n"
}

fn present(records: &[Record]) -> Vec<Figure> {
    let figures: BTreeSet<Figure> = records.iter().map(|record| record.figure).collect();
    figures.into_iter().collect()
}

fn label(figure: Figure) -> &'static str {
    figure.title().split(':').next().unwrap_or_default()
}

/// The machine, what a ratio is, and who takes part.
fn how(records: &[Record]) -> String {
    let mut text = String::from(
        "<h2>How to read it</h2>\n<p>All sides of an experiment run in one process on the same keys, in turns of a slice or a \
         whole fill each; a ratio is the median over those rounds, with its 95% bootstrap interval. Above 1 the named side is better, \
         also where less is better. An interval that contains 1 shows no difference; fewer than six rounds give no verdict. Every \
         number links to the file that it comes from.</p>\n",
    );
    let machines: BTreeSet<String> = records
        .iter()
        .map(|record| {
            let machine = &record.machine;
            format!(
                "{}, {} cores, {:.1} GiB memory, {}, kernel {}",
                machine.cpu,
                machine.cores,
                machine.memory as f64 / (1u64 << 30) as f64,
                machine.os,
                machine.kernel
            )
        })
        .collect();
    for machine in machines {
        text += &format!("<p>Machine: {}.</p>\n", escape(&machine));
    }
    let clock = records.iter().map(|record| record.clock_nanos).fold(f64::NAN, f64::max);
    if clock.is_finite() {
        text += &format!(
            "<p>Latencies count from when an operation was due, so one that waits for a slow one before it counts its wait. A look at the clock \
             takes {clock:.0} ns on this machine; each latency contains one or two.</p>\n"
        );
    }
    text += "<details><summary>Sides and their RocksDB options</summary>\n<ul>\n";
    for system in &SYSTEMS {
        let options = system.side().options;
        let options = if options.is_empty() {
            "RocksDB's defaults".to_owned()
        } else {
            options
        };
        text += &format!(
            "<li><b>{}</b>: {}<br><code>{}</code></li>\n",
            escape(system.name),
            escape(system.about),
            escape(&options)
        );
    }
    text + "</ul>\n<p>All sides: two memtables of 64 MiB, blocks of 4 KiB, Bloom filters of 10 bits per key in files, no compression, 8 background \
            jobs, writes logged unless a row says otherwise.</p>\n</details>\n"
}

fn section(figure: Figure, records: &[Record]) -> String {
    let records: Vec<&Record> = records.iter().filter(|record| record.figure == figure).collect();
    let mut text = format!(
        "<section id=\"figure-{figure}\">\n<h2>{}</h2>\n<p>{}</p>\n",
        escape(figure.title()),
        escape(figure.about())
    );
    let commands: BTreeSet<&str> = records.iter().map(|record| record.command.as_str()).collect();
    for command in commands {
        text += &format!("<p>Repeat it: <code>{}</code></p>\n", escape(command));
    }
    for record in records.iter().filter(|record| record.error.is_some()) {
        text += &format!(
            "<p class=\"error\"><a href=\"{}\">{}</a> failed: {}</p>\n",
            link(record),
            escape(&record.id),
            escape(record.error.as_deref().unwrap_or_default())
        );
    }
    text += &curves::charts(&records);
    text += &ratios(&records);
    text += &table::tables(&records);
    text += &notes(&records);
    text + "</section>\n"
}

/// Where a record's file lies, seen from the page.
fn link(record: &Record) -> String {
    format!("{}/{}.json", super::state::FOLDER, record.id)
}

/// A chart of ratios for each quantity and opponent.
fn ratios(records: &[&Record]) -> String {
    let mut charts: Vec<((Metric, &str), Vec<Bar>)> = Vec::new();
    for row in records.iter().flat_map(|record| &record.measured.rows) {
        for comparison in &row.comparisons {
            let key = (row.metric, comparison.against.as_str());
            let bar = bar(row, comparison);
            match charts.iter_mut().find(|(known, _)| *known == key) {
                Some((_, bars)) => bars.push(bar),
                None => charts.push((key, vec![bar])),
            }
        }
    }
    let mut text = String::new();
    for ((metric, against), bars) in charts {
        let about = format!("{}: times as good as {against}", metric.name());
        text += &format!("<h3>{}</h3>\n{}", escape(&about), ratio_chart(&bars, &about));
    }
    text
}

fn bar(row: &Row, comparison: &Comparison) -> Bar {
    let Comparison {
        side,
        against,
        ratio,
        rounds,
        ..
    } = comparison;
    let plain = side == super::systems::LEARNED;
    let side_name = if plain { String::new() } else { format!(", {side}") };
    Bar {
        label: format!("{} {}{side_name}", file_name(&row.keys), row.workload),
        title: format!(
            "{}, {}: {side} {:.2} times as good as {against} ({:.2} to {:.2}, {rounds} rounds)",
            row.keys, row.workload, ratio.median, ratio.low, ratio.high
        ),
        ratio: *ratio,
        class: class(comparison.verdict),
    }
}

fn file_name(keys: &str) -> &str {
    keys.rsplit('/').next().unwrap_or(keys)
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Win => "win",
        Verdict::Loss => "loss",
        Verdict::NoDifference | Verdict::TooFewRounds => "none",
    }
}

fn notes(records: &[&Record]) -> String {
    let mut text = String::from("<details><summary>Settings, checks and notes of each experiment</summary>\n<ul>\n");
    for record in records {
        let sizes = &record.settings["sizes"];
        text += &format!(
            "<li><a href=\"{}\">{}</a>: {}; {:.0} s; sizes {}.",
            link(record),
            escape(&record.id),
            escape(&record.title),
            record.seconds,
            escape(&sizes.to_string().replace('"', "").replace(',', ", "))
        );
        for note in record.measured.notes.iter().chain([&record.measured.verified]) {
            text += &format!(" {}", escape(note));
        }
        text += "</li>\n";
    }
    text + "</ul>\n</details>\n"
}

#[cfg(test)]
mod tests;
