//! The beginning of the report: where mountdb wins, by how much, and where it does not.

use super::{file_name, link};
use crate::eval::figure::Figure;
use crate::eval::record::{Comparison, Metric, Record, Row, Verdict};
use crate::eval::systems::{LEARNED, STOCK, TUNED};
use crate::report::html::escape;
use crate::stats::median;

/// A comparison and where it comes from.
struct Case<'a> {
    record: &'a Record,
    row: &'a Row,
    comparison: &'a Comparison,
}

impl Case<'_> {
    fn ratio(&self) -> f64 {
        self.comparison.ratio.median
    }

    fn name(&self) -> String {
        let side = &self.comparison.side;
        let side = if side == LEARNED {
            String::new()
        } else {
            format!(", {side}")
        };
        format!("{} on {}{side}", self.row.workload, file_name(&self.row.keys))
    }

    fn number(&self) -> String {
        format!("<a href=\"{}\">{:.2}</a>", link(self.record), self.ratio())
    }

    fn item(&self) -> String {
        let ratio = self.comparison.ratio;
        format!(
            "<li>{}, {}: {} times as good as {} ({:.2} to {:.2})</li>\n",
            escape(&self.name()),
            self.row.metric.name(),
            self.number(),
            escape(&self.comparison.against),
            ratio.low,
            ratio.high
        )
    }
}

pub(super) fn summary(records: &[Record]) -> String {
    let cases = cases(records);
    let mut text = String::from("<section id=\"summary\">\n<h2>Summary</h2>\n");
    let failed: Vec<&Record> = records.iter().filter(|record| record.error.is_some()).collect();
    if !failed.is_empty() {
        let names: Vec<&str> = failed.iter().map(|record| record.id.as_str()).collect();
        text += &format!(
            "<p class=\"error\">{} of {} experiments failed, and nothing is known about them: {}.</p>\n",
            failed.len(),
            records.len(),
            escape(&names.join(", "))
        );
    }
    text += "<ul>\n";
    for against in [STOCK, TUNED] {
        for (metrics, quantity) in [
            (&[Metric::Throughput][..], "operations per second"),
            (&[Metric::P90, Metric::P99, Metric::P999][..], "latency percentiles"),
        ] {
            let wanted = |case: &&Case| {
                metrics.contains(&case.row.metric)
                    && case.comparison.side == LEARNED
                    && case.comparison.against == against
            };
            text += &sentence(&cases.iter().filter(wanted).collect::<Vec<_>>(), quantity, against);
        }
    }
    text += &memory(&cases);
    text += "</ul>\n<p>By figure, operations per second against stock:</p>\n<ul>\n";
    for figure in Figure::ALL {
        let wanted = |case: &&Case| {
            case.record.figure == figure
                && case.row.metric == Metric::Throughput
                && case.comparison.side == LEARNED
                && case.comparison.against == STOCK
        };
        text += &by_figure(figure, &cases.iter().filter(wanted).collect::<Vec<_>>());
    }
    text += "</ul>\n";
    text += &listed(
        &cases,
        Verdict::Loss,
        "Where it is worse",
        "Nowhere: no interval lies below 1.",
    );
    text += &listed(
        &cases,
        Verdict::NoDifference,
        "Where no difference is shown",
        "Nowhere.",
    );
    text += &listed(
        &cases,
        Verdict::TooFewRounds,
        "Where the time sufficed for too few rounds",
        "Nowhere.",
    );
    text + "</section>\n"
}

fn cases(records: &[Record]) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    for record in records {
        for row in &record.measured.rows {
            for comparison in &row.comparisons {
                cases.push(Case {
                    record,
                    row,
                    comparison,
                });
            }
        }
    }
    cases
}

fn sentence(cases: &[&Case<'_>], quantity: &str, against: &str) -> String {
    let Some((least, most)) = extremes(cases) else {
        return String::new();
    };
    let count = |verdict| cases.iter().filter(|case| case.comparison.verdict == verdict).count();
    format!(
        "<li>Against <b>{against}</b>, {quantity}: of {} comparisons, {} better, {} worse, {} without a difference, {} with too few rounds. \
         The median is {:.2} times as good; most for {}: {}, least for {}: {}.</li>\n",
        cases.len(),
        count(Verdict::Win),
        count(Verdict::Loss),
        count(Verdict::NoDifference),
        count(Verdict::TooFewRounds),
        middle(cases),
        escape(&most.name()),
        most.number(),
        escape(&least.name()),
        least.number()
    )
}

fn by_figure(figure: Figure, cases: &[&Case<'_>]) -> String {
    let Some((least, most)) = extremes(cases) else {
        return String::new();
    };
    let worse = cases
        .iter()
        .filter(|case| case.comparison.verdict == Verdict::Loss)
        .count();
    format!(
        "<li><a href=\"#figure-{figure}\">{}</a>: {} to {} times, median {:.2}; worse in {worse} of {}.</li>\n",
        escape(figure.title()),
        least.number(),
        most.number(),
        middle(cases),
        cases.len()
    )
}

/// Operations per second of the side with both indexes learned, over all comparisons of a figure with one opponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overview {
    /// Smallest ratio.
    pub least: f64,
    /// Median of the ratios.
    pub median: f64,
    /// Largest ratio.
    pub most: f64,
    /// Comparisons that it wins.
    pub better: usize,
    /// Comparisons that it loses.
    pub worse: usize,
    /// Comparisons without a difference.
    pub no_difference: usize,
    /// Comparisons of fewer than six rounds.
    pub too_few: usize,
}

/// `None` if nothing of the figure is compared with this opponent.
pub fn overview(records: &[Record], figure: Figure, against: &str) -> Option<Overview> {
    let cases = cases(records);
    let wanted = |case: &&Case| {
        case.record.figure == figure
            && case.row.metric == Metric::Throughput
            && case.comparison.side == LEARNED
            && case.comparison.against == against
    };
    let cases: Vec<&Case> = cases.iter().filter(wanted).collect();
    let (least, most) = extremes(&cases)?;
    let count = |verdict| cases.iter().filter(|case| case.comparison.verdict == verdict).count();
    Some(Overview {
        least: least.ratio(),
        median: middle(&cases),
        most: most.ratio(),
        better: count(Verdict::Win),
        worse: count(Verdict::Loss),
        no_difference: count(Verdict::NoDifference),
        too_few: count(Verdict::TooFewRounds),
    })
}

fn memory(cases: &[Case<'_>]) -> String {
    let wanted = |case: &&Case| case.row.metric == Metric::IndexPerGigabyte && case.comparison.against == STOCK;
    let mut sides: Vec<&str> = Vec::new();
    for case in cases.iter().filter(wanted) {
        if !sides.contains(&case.comparison.side.as_str()) {
            sides.push(&case.comparison.side);
        }
    }
    let mut text = String::new();
    for side in sides {
        let of_side: Vec<&Case> = cases
            .iter()
            .filter(wanted)
            .filter(|case| case.comparison.side == side)
            .collect();
        if let Some((least, most)) = extremes(&of_side) {
            text += &format!(
                "<li>Index bytes, {}: stock's are {} to {} times as many.</li>\n",
                escape(side),
                least.number(),
                most.number()
            );
        }
    }
    text
}

fn listed(cases: &[Case<'_>], verdict: Verdict, heading: &str, none: &str) -> String {
    let items: Vec<String> = cases
        .iter()
        .filter(|case| case.comparison.verdict == verdict)
        .map(Case::item)
        .collect();
    if items.is_empty() {
        return format!("<p><b>{heading}.</b> {none}</p>\n");
    }
    // Losses are in sight; the others unfold.
    let open = if verdict == Verdict::Loss { " open" } else { "" };
    format!(
        "<details{open}><summary><b>{heading}</b>: {}</summary>\n<ul>\n{}</ul>\n</details>\n",
        items.len(),
        items.concat()
    )
}

fn extremes<'a>(cases: &'a [&Case<'a>]) -> Option<(&'a Case<'a>, &'a Case<'a>)> {
    let by_ratio = |a: &&&Case, b: &&&Case| a.ratio().total_cmp(&b.ratio());
    Some((cases.iter().min_by(by_ratio)?, cases.iter().max_by(by_ratio)?))
}

fn middle(cases: &[&Case<'_>]) -> f64 {
    median(&cases.iter().map(|case| case.ratio()).collect::<Vec<_>>())
}
