//! The evaluation's own machinery: what is finished is not repeated, what failed is shown. The learned factories are not part of
//! this crate; runs with them are in the tests of `mountdb`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::SystemTime;

use clap::Parser;
use mountdb_bench::eval::{Args, Figure, Hooks, run};

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: Args,
}

fn eval(out: &Path, line: &str, count: fn(&mut dyn Iterator<Item = u64>, u64) -> usize) -> ExitCode {
    let out = out.display().to_string();
    let words = ["eval", "--out", &out, "--num", "1000", "--minutes", "0.05"];
    let cli = Cli::try_parse_from(words.into_iter().chain(line.split_whitespace())).unwrap();
    let hooks = Hooks {
        segments: count,
        index_bytes: None,
        progress: false,
    };
    run(&cli.args, hooks).unwrap()
}

fn files(out: &Path) -> BTreeMap<String, SystemTime> {
    fs::read_dir(out.join("json"))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, entry.metadata().unwrap().modified().unwrap())
        })
        .collect()
}

#[test]
fn what_is_finished_is_not_repeated() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let count: fn(&mut dyn Iterator<Item = u64>, u64) -> usize = |keys, _| {
        CALLS.fetch_add(1, Relaxed);
        keys.count() / 100
    };
    let out = tempfile::tempdir().unwrap();
    assert_eq!(eval(out.path(), "--figure 5", count), ExitCode::SUCCESS);
    let (calls, first) = (CALLS.load(Relaxed), files(out.path()));
    assert_eq!(first.len(), 6);
    assert!(calls > 30);

    assert_eq!(eval(out.path(), "--figure 5", count), ExitCode::SUCCESS);
    assert_eq!(CALLS.load(Relaxed), calls, "nothing is counted again");
    assert_eq!(files(out.path()), first);

    // One file is lost, as if the run had been killed before it.
    fs::remove_file(out.path().join("json/fig5-osm.json")).unwrap();
    assert_eq!(eval(out.path(), "--figure 5", count), ExitCode::SUCCESS);
    let third = files(out.path());
    let changed: Vec<&String> = third
        .iter()
        .filter(|(name, time)| first[*name] != **time)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(changed, ["fig5-osm.json"]);

    // Other settings are another experiment.
    let calls = CALLS.load(Relaxed);
    assert_eq!(eval(out.path(), "--figure 5 --seed 2", count), ExitCode::SUCCESS);
    assert!(CALLS.load(Relaxed) > calls + 30);
}

#[test]
fn what_failed_is_shown_and_tried_again() {
    let out = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        // Nobody registered the learned factories here.
        assert_eq!(eval(out.path(), "--figure 11", |_, _| 0), ExitCode::FAILURE);
    }
    let page = fs::read_to_string(out.path().join("report.html")).unwrap();
    assert!(page.contains("2 of 2 experiments failed"), "{page}");
    for id in ["fig11-amazon", "fig11-osm"] {
        assert!(page.contains(&format!("json/{id}.json\">{id}</a> failed: ")), "{page}");
    }
    let all: serde_json::Value = serde_json::from_slice(&fs::read(out.path().join("eval.json")).unwrap()).unwrap();
    let records = all["records"].as_array().unwrap();
    assert!(
        records
            .iter()
            .all(|record| record["error"].as_str().unwrap().contains("user_defined_index_factory"))
    );
}

#[test]
fn unusable_flags_are_refused() {
    let refused = |line: &str| Cli::try_parse_from(line.split_whitespace()).is_err();
    assert!(refused("eval --figure 4"));
    assert!(refused("eval --sosd towns=x.sosd"));
    assert!(refused("eval --minutes 0"));
    assert!(refused("eval --scale huge"));
    for figure in Figure::ALL {
        assert!(!refused(&format!("eval --figure {figure}")));
    }
}
