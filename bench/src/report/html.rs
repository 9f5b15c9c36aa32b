//! The report as one HTML page: no script, no style sheet, image or font from elsewhere.

use super::chart::{Bar, ratio_chart};
use super::text::{row, side_lines};
use super::{Outcome, Report, Verdict, sentence, verdict};

pub(crate) const STYLE: &str = "
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

fn chart(outcomes: &[Outcome]) -> String {
    let bar = |outcome: &Outcome| Bar {
        label: format!("{} {}", short(&outcome.keys), outcome.workload),
        title: sentence(outcome),
        ratio: outcome.ratio,
        class: match verdict(outcome) {
            Verdict::Win => "win",
            Verdict::Loss => "loss",
            Verdict::NoDifference | Verdict::TooFewPairs => "none",
        },
    };
    let bars: Vec<Bar> = outcomes.iter().map(bar).collect();
    ratio_chart(&bars, "Ratio b to a per workload, with intervals")
}

/// The file name of a key set that is named by its path.
fn short(keys: &str) -> String {
    keys.rsplit('/').next().unwrap_or(keys).chars().take(16).collect()
}

pub(crate) fn escape(text: &str) -> String {
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
