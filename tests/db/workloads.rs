//! No answer differs between modes: `mountdb ab` checks both sides of each workload against the keys and values that it
//! wrote, before and after it times them; here the times do not matter.

use std::process::Command;

/// Workloads that `mountdb ab` takes by default against stock RocksDB, and key sets.
const WORKLOADS: usize = 6;
const KEYS: &str = "uniform,sequential,cities,osm";

fn compared(arguments: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("results.json");
    let output = Command::new(env!("CARGO_BIN_EXE_mountdb"))
        .args(["ab", "--keys", KEYS, "--num", "20000", "--pairs", "2"])
        .args(["--seconds", "0.01", "--write-buffer-size", "1", "--cache-size", "16"])
        .args(arguments)
        .arg("--db")
        .arg(directory.path())
        .arg("--json")
        .arg(&json)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{arguments:?}: {}\n{text}", output.status);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let results = report["results"].as_array().unwrap();
    assert_eq!(
        results.len(),
        WORKLOADS * KEYS.split(',').count(),
        "{arguments:?}: a workload was left out"
    );
}

#[test]
fn alongside_with_the_learned_memtable() {
    let index = "block_based_table_factory={user_defined_index_factory={id=pgm}}";
    compared(&["--learned", "memtable", "--b-options", index]);
}

#[test]
fn primary_with_the_learned_memtable() {
    compared(&["--learned", "memtable,index"]);
}

#[test]
fn replace_with_several_threads() {
    compared(&["--learned", "memtable,replace", "--threads", "2"]);
}

#[test]
fn window_with_small_blocks() {
    compared(&["--learned", "memtable,window", "--block-size", "1365"]);
}

#[test]
fn replace_over_files_of_level_0() {
    compared(&["--learned", "replace", "--no-compact"]);
}
