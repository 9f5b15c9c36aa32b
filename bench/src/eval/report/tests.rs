use serde_json::json;

use super::*;
use crate::eval::record::{Curve, Measured, VERSION, tests::samples};
use crate::machine::Machine;

fn record(id: &str, figure: Figure, numbers: [f64; 2], error: Option<&str>) -> Record {
    let sides = vec![samples("stock", &[numbers[0]; 8]), samples("learned", &[numbers[1]; 8])];
    let measured = Measured {
        rows: vec![Row::new("osm", "read-only", Metric::Throughput, sides, &["stock"])],
        curves: vec![Curve {
            chart: "Inserts over time".to_owned(),
            x: "seconds".to_owned(),
            y: "op/s".to_owned(),
            name: "stock".to_owned(),
            points: vec![(0.0, 1.0), (1.0, 2.0)],
        }],
        notes: vec!["a <note>".to_owned()],
        verified: "asked".to_owned(),
    };
    Record {
        version: VERSION,
        id: id.to_owned(),
        figure,
        title: "title".to_owned(),
        command: format!("mountdb eval --figure {figure}"),
        settings: json!({"sizes": {"entries": 5}}),
        machine: Machine::detect(),
        clock_nanos: 21.0,
        seconds: 3.0,
        measured: if error.is_some() { Measured::default() } else { measured },
        error: error.map(str::to_owned),
    }
}

#[test]
fn every_record_is_in_the_report_the_bad_and_the_failed_too() {
    let records = [
        record("fig6-good", Figure::Mixes, [1e5, 2e5], None),
        record("fig6-bad", Figure::Mixes, [2e5, 1e5], None),
        record("fig7-equal", Figure::Ycsb, [1e5, 1e5], None),
        record("fig11-failed", Figure::Background, [1.0, 1.0], Some("out of <luck>")),
    ];
    let page = page(&records);
    for record in &records {
        assert!(
            page.contains(&format!("href=\"json/{}.json\"", record.id)),
            "{}",
            record.id
        );
        assert!(page.contains(&format!("<section id=\"figure-{}\">", record.figure)));
    }
    assert!(
        page.contains("class=\"win\"><a") && page.contains("class=\"loss\"><a") && page.contains("class=\"none\"><a")
    );
    assert!(page.contains("1 better, 1 worse, 1 without a difference"), "summary");
    assert!(page.contains("1 of 4 experiments failed") && page.contains("out of &lt;luck&gt;"));
    assert!(page.contains("mountdb eval --figure 7") && page.contains("takes 21 ns"));
    assert!(!page.contains("<note>"));
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let page = page(&[record("fig2-x", Figure::ColdStart, [1.0, 2.0], None)]);
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for forbidden in ["http", "src=", "url(", "@import", "<script"] {
        assert!(!outside.contains(forbidden), "{forbidden}");
    }
    assert!(page.matches("<svg").count() >= 2, "a chart of curves and one of ratios");
}

#[test]
fn no_records_make_a_page_too() {
    assert!(page(&[]).contains("<h2>Summary</h2>"));
}
