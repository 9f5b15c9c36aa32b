//! `mountdb eval` from start to end, killed on the way.
#![cfg(feature = "tools")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// The read path: databases that are shared, opened again, checked, and one experiment without timing.
const FIGURE: &str = "10";
const EXPERIMENTS: usize = 12;

fn start(out: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_mountdb"))
        .args([
            "eval",
            "--figure",
            FIGURE,
            "--num",
            "2000",
            "--minutes",
            "0.05",
            "--out",
        ])
        .arg(out)
        .arg("--db")
        .arg(out.join("databases"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn files(out: &Path) -> BTreeMap<String, SystemTime> {
    let Ok(entries) = fs::read_dir(out.join("json")) else {
        return BTreeMap::new();
    };
    entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "json"))
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, entry.metadata().unwrap().modified().unwrap())
        })
        .collect()
}

#[test]
fn a_killed_evaluation_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path();
    let mut child = start(out);
    let begun = Instant::now();
    while files(out).len() < 3 {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it could be killed"
        );
        assert!(begun.elapsed() < Duration::from_secs(240), "no experiment finishes");
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = files(out);
    assert!((3..EXPERIMENTS).contains(&before.len()), "{before:?}");

    assert!(start(out).wait().unwrap().success());
    let after = files(out);
    assert_eq!(after.len(), EXPERIMENTS, "{after:?}");
    for (name, time) in &before {
        assert_eq!(after[name], *time, "{name} was run again");
    }

    let page = fs::read_to_string(out.join("report.html")).unwrap();
    let all: serde_json::Value = serde_json::from_slice(&fs::read(out.join("eval.json")).unwrap()).unwrap();
    let records = all["records"].as_array().unwrap();
    assert_eq!(records.len(), EXPERIMENTS);
    for record in records {
        let id = record["id"].as_str().unwrap();
        assert!(record["error"].is_null(), "{record}");
        assert!(
            !record["measured"]["verified"].as_str().unwrap().is_empty(),
            "{id} checked no answers"
        );
        assert!(page.contains(&format!("json/{id}.json")), "{id}");
    }
}
