use std::collections::BTreeSet;

use super::*;

fn all() -> Vec<Experiment> {
    plan(Choice::ALL, &Files::new(), 16)
}

fn of(figure: Figure) -> Vec<Experiment> {
    all()
        .into_iter()
        .filter(|experiment| experiment.figure == figure)
        .collect()
}

#[test]
fn names_are_distinct_and_fit_a_file_name() {
    let ids: BTreeSet<String> = all().into_iter().map(|experiment| experiment.id).collect();
    assert_eq!(ids.len(), all().len());
    assert!(
        ids.iter()
            .all(|id| id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
    );
}

#[test]
fn every_figure_is_covered() {
    for figure in Figure::ALL {
        assert!(!of(figure).is_empty(), "{figure}");
        let choice = figure.name().parse().unwrap();
        assert_eq!(plan(choice, &Files::new(), 16).len(), of(figure).len());
    }
}

/// The table of the evaluation's description, row by row.
#[test]
fn every_figure_has_what_it_shows() {
    assert_eq!(of(Figure::ColdStart).len(), 2, "an easy and a hard set");
    assert_eq!(of(Figure::KeySets).len(), SETS.len());
    let text = |figure| serde_json::to_string(&of(figure)).unwrap();
    for word in ["read-only", "balanced", "fills", "\"latency\":true"] {
        assert!(text(Figure::Mixes).contains(word), "{word}");
    }
    for letter in ["A", "B", "C", "D", "E", "F"] {
        assert!(
            text(Figure::Ycsb).contains(&format!("YCSB {letter}, uniform")),
            "{letter}"
        );
        let skewed = if letter == "D" { "latest" } else { "zipfian" };
        assert!(
            text(Figure::Ycsb).contains(&format!("YCSB {letter}, {skewed}")),
            "{letter}"
        );
    }
    for part in [
        "\"fixed\":16}",
        "\"fixed\":512}",
        "\"mean\":126.7",
        "\"mean\":42.9",
        "\"mean\":46.8",
    ] {
        assert!(text(Figure::ValueSizes).contains(part), "{part}");
    }
    for name in ["learned", "single skeleton", "no skeleton", "stock", "ycsb", "osm"] {
        assert!(text(Figure::Phases).contains(name), "{name}");
    }
    for name in ["cached", "tenth", "direct", "parts", "share"] {
        assert!(text(Figure::ReadPath).contains(&format!("fig10-{name}-osm")), "{name}");
    }
    assert!(text(Figure::Background).contains("no skeleton"));
    for id in [
        "extra-memory-ycsb",
        "extra-slow-1",
        "extra-slow-16",
        "extra-text-mixes-url",
        "extra-ablation-osm",
    ] {
        assert!(text(Figure::Extra).contains(id), "{id}");
    }
    for threads in THREADS {
        assert!(
            text(Figure::Extra).contains(&format!("extra-threads-write-{threads}\"")),
            "{threads}"
        );
    }
}

#[test]
fn stock_takes_part_wherever_sides_are_compared_and_tuned_in_all_reads() {
    for experiment in all() {
        let systems = experiment.kind.systems();
        assert!(systems.is_empty() || systems.contains(&STOCK), "{}", experiment.id);
        if matches!(experiment.kind, Kind::Mixes { .. } | Kind::ReadPath { .. }) {
            assert!(
                systems.contains(&TUNED) && systems.contains(&LEARNED),
                "{}",
                experiment.id
            );
        }
        for name in systems {
            System::named(name).unwrap();
        }
    }
}

#[test]
fn the_small_scale_fits_into_its_half_hour() {
    let sum: f64 = all().iter().map(|experiment| experiment.seconds).sum();
    let time = super::super::scale::Scale::Small.sizes().time().as_secs_f64();
    assert!(
        sum < 1.35 * time,
        "{sum} s; the time left is dealt out in proportion, so more only means fewer rounds"
    );
}

#[test]
fn files_stand_in_for_sets() {
    let file = KeySource::Sosd("x/osm.sosd".into());
    let files = Files::from([("osm".to_owned(), file)]);
    let text = serde_json::to_string(&plan(Choice::ALL, &files, 1)).unwrap();
    assert!(text.contains("x/osm.sosd") && !text.contains("\"source\":\"osm\""));
}
