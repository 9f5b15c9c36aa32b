//! The report as one HTML page: no script, no style sheet, image or font from elsewhere.
//!
//! The chart is a handful of rectangles, written here: a plotting crate would add a megabyte of code for them, and its
//! drawings would not follow the reader's light or dark setting.

use std::fmt::Write;

use super::text::{row, side_lines};
use super::{Outcome, Report, Verdict, sentence, verdict};

const STYLE: &str = "
:root { color-scheme: light dark; --win: #1a7f37; --loss: #cf222e; --none: #6e7781; --line: #8c959f55; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; } svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
.win { fill: var(--win); } .loss { fill: var(--loss); } .none { fill: var(--none); }
.axis { stroke: currentColor; } .grid { stroke: var(--line); } .whisker { stroke: currentColor; stroke-width: 1.5; }
";

const WIDTH: f64 = 900.0;
const LABELS: f64 = 190.0;
const NUMBERS: f64 = 150.0;
const ROW: f64 = 26.0;
const TOP: f64 = 24.0;

/// The page.
pub fn html(report: &Report<'_>) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    page += "<title>mountdb ab</title>\n";
    page += &format!("<style>{STYLE}</style>\n</head>\n<body>\n<h1>mountdb ab: paired comparison</h1>\n");
    page += "<p>Ratio of operations per second, b to a, median over pairs of neighbouring slices with its 95% bootstrap \
             interval. Above 1, side b is faster.</p>\n";
    page += &chart(&report.results);
    page += "<h2>What it means</h2>\n";
    list(&mut page, report.results.iter().map(sentence));
    page += "<h2>Numbers</h2>\n";
    page += &table(&report.results);
    page += "<h2>Sides</h2>\n";
    list(&mut page, side_lines(report));
    page += "<h2>Both sides</h2>\n";
    list(&mut page, report.shared_settings());
    page += "<h2>Machine and command</h2>\n";
    let machine = &report.machine;
    page += &format!(
        "<p>{}, {} cores, {:.1} GiB memory, {}, kernel {}</p>\n<p><code>{}</code></p>\n</body>\n</html>\n",
        escape(&machine.cpu),
        machine.cores,
        machine.memory as f64 / (1u64 << 30) as f64,
        escape(&machine.os),
        escape(&machine.kernel),
        escape(&report.command)
    );
    page
}

fn list(page: &mut String, items: impl IntoIterator<Item = String>) {
    *page += "<ul>\n";
    for item in items {
        *page += &format!("<li>{}</li>\n", escape(&item));
    }
    *page += "</ul>\n";
}

fn table(outcomes: &[Outcome]) -> String {
    let mut text = String::from("<table>\n<thead><tr>");
    for column in super::text::COLUMNS {
        text += &format!("<th scope=\"col\">{}</th>", escape(column));
    }
    text += "</tr></thead>\n<tbody>\n";
    for outcome in outcomes {
        text += "<tr>";
        for cell in row(outcome) {
            text += &format!("<td>{}</td>", escape(&cell));
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table>\n"
}

/// Bars from 1 to the median ratio, so that direction shows win or loss, with a whisker for the interval. The scale is
/// logarithmic: twice as fast and half as fast are equally long.
fn chart(outcomes: &[Outcome]) -> String {
    let ends = outcomes
        .iter()
        .flat_map(|outcome| [outcome.ratio.low, outcome.ratio.high]);
    let reach = ends
        .map(|end| end.log2().abs())
        .filter(|reach| reach.is_finite())
        .fold(0.26_f64, f64::max)
        * 1.08;
    let span = WIDTH - LABELS - NUMBERS;
    let x = |ratio: f64| LABELS + span * (ratio.log2().clamp(-reach, reach) + reach) / (2.0 * reach);
    let bottom = TOP + ROW * outcomes.len() as f64;

    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"Ratio b to a per workload, with intervals\">\n",
        bottom + 24.0
    );
    for tick in ticks(reach) {
        let at = x(tick);
        let class = if tick == 1.0 { "axis" } else { "grid" };
        svg += &format!(
            "<line class=\"{class}\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{bottom:.1}\"/>\n",
            TOP - 4.0
        );
        svg += &format!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>\n",
            bottom + 16.0
        );
    }
    for (index, outcome) in outcomes.iter().enumerate() {
        let _ = bar(&mut svg, outcome, TOP + ROW * index as f64, x);
    }
    svg + "</svg>\n"
}

fn bar(svg: &mut String, outcome: &Outcome, top: f64, x: impl Fn(f64) -> f64) -> std::fmt::Result {
    let ratio = outcome.ratio;
    let class = match verdict(outcome) {
        Verdict::Win => "win",
        Verdict::Loss => "loss",
        Verdict::NoDifference | Verdict::TooFewPairs => "none",
    };
    let middle = top + ROW / 2.0;
    let (one, end) = (x(1.0), x(ratio.median));
    let (left, width) = (one.min(end), (end - one).abs());
    writeln!(svg, "<g><title>{}</title>", escape(&sentence(outcome)))?;
    writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} {}</text>",
        LABELS - 10.0,
        middle + 4.5,
        escape(&short(&outcome.keys)),
        outcome.workload
    )?;
    writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"2\"/>",
        top + 5.0,
        ROW - 10.0
    )?;
    let (low, high) = (x(ratio.low), x(ratio.high));
    writeln!(svg, "<path class=\"whisker\" d=\"M{low:.1} {middle:.1}H{high:.1}\"/>")?;
    for end in [low, high] {
        writeln!(svg, "<path class=\"whisker\" d=\"M{end:.1} {:.1}v8\"/>", middle - 4.0)?;
    }
    writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\">{:.2} ({:.2} to {:.2})</text></g>",
        WIDTH - NUMBERS + 12.0,
        middle + 4.5,
        ratio.median,
        ratio.low,
        ratio.high
    )
}

/// Round ratios on both sides of 1 that fit the scale.
fn ticks(reach: f64) -> Vec<f64> {
    let candidates: &[f64] = if reach > 1.2 {
        &[0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    } else {
        &[0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0]
    };
    candidates
        .iter()
        .copied()
        .filter(|tick| tick.log2().abs() <= reach)
        .collect()
}

/// The file name of a key set that is named by its path.
fn short(keys: &str) -> String {
    keys.rsplit('/').next().unwrap_or(keys).chars().take(16).collect()
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;
    use super::*;
    use crate::{Config, Machine, Workload};

    fn page(command: &str) -> String {
        let config = Config::default();
        html(&Report {
            version: super::super::VERSION,
            machine: Machine::detect(),
            command: command.to_owned(),
            settings: &config,
            results: vec![
                outcome(Workload::ReadRandom, (1.2, 1.1, 1.3)),
                outcome(Workload::SeekRandom, (0.9, 0.8, 1.1)),
            ],
        })
    }

    #[test]
    fn page_asks_for_nothing_from_elsewhere() {
        let page = page("mountdb ab");
        for forbidden in ["http", "src=", "href=", "url(", "@import", "<script"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        assert_eq!(page.matches("<rect").count(), 2);
        assert!(page.contains("class=\"win\"") && page.contains("class=\"none\""));
        assert!(page.contains("readrandom") && page.contains("1.200"));
    }

    #[test]
    fn text_is_escaped() {
        let page = page("mountdb ab --keys '<b>&\"'");
        assert!(page.contains("&#39;&lt;b&gt;&amp;&quot;&#39;"));
        assert!(!page.contains("<b>"));
    }

    #[test]
    fn bars_stay_inside_the_picture() {
        let extreme = [
            outcome(Workload::FillRandom, (40.0, 30.0, 50.0)),
            outcome(Workload::Balanced, (0.0, 0.0, 0.0)),
        ];
        let svg = chart(&extreme);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
