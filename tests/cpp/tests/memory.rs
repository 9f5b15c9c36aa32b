//! Cases that measure the memory of a process, each in a process of its own.

use std::collections::HashMap;
use std::ffi::{c_char, c_int};
use std::process::Command;

use mountdb_cpp_tests::{memtables, run};

unsafe extern "C" {
    fn mp_03_reported_bytes_are_allocated_bytes(message: *mut c_char, capacity: usize) -> c_int;
    fn mp_03_flushes_at_write_buffer_size(message: *mut c_char, capacity: usize) -> c_int;
    fn mp_03_families_stay_within_the_write_buffer_manager(message: *mut c_char, capacity: usize) -> c_int;
    fn mp_05_measure(message: *mut c_char, capacity: usize) -> c_int;
}

/// Runs in a process that another test has started.
#[test]
#[ignore = "started by the other tests"]
fn child() {
    let name = std::env::var("MOUNTDB_CASE").expect("MOUNTDB_CASE names the case");
    let case = match name.as_str() {
        "mp_03_reported_bytes_are_allocated_bytes" => mp_03_reported_bytes_are_allocated_bytes,
        "mp_03_flushes_at_write_buffer_size" => mp_03_flushes_at_write_buffer_size,
        "mp_03_families_stay_within_the_write_buffer_manager" => mp_03_families_stay_within_the_write_buffer_manager,
        "mp_05_measure" => mp_05_measure,
        _ => panic!("no case {name}"),
    };
    run(case).unwrap();
}

/// Runs a case in a process of its own; what it printed.
fn alone(case: &str, environment: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env("MOUNTDB_CASE", case)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}");
    assert!(
        output.status.success(),
        "{case} {environment:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

#[test]
fn mp_03_reported_bytes() {
    alone("mp_03_reported_bytes_are_allocated_bytes", &[]);
}

#[test]
fn mp_03_flush_point() {
    alone("mp_03_flushes_at_write_buffer_size", &[]);
}

#[test]
fn mp_03_write_buffer_manager() {
    alone("mp_03_families_stay_within_the_write_buffer_manager", &[]);
}

/// The numbers of one memtable with one workload in 500 column families.
fn measure(memtable: &str, workload: &str) -> HashMap<String, u64> {
    let environment = [("MOUNTDB_MEMTABLE", memtable), ("MOUNTDB_WORKLOAD", workload)];
    let text = alone("mp_05_measure", &environment);
    let line = text.lines().find_map(|line| line.strip_prefix("measured: ")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let pairs = words.chunks_exact(2);
    pairs
        .map(|pair| (pair[0].to_owned(), pair[1].parse().unwrap()))
        .collect()
}

/// At most what the skip list takes and a tenth more, as RocksDB reports it and as the process grows.
fn many_families(workload: &str) {
    let mut failed = Vec::new();
    let all = memtables();
    let stock = measure(&all[0], workload);
    println!("mp_05 {workload} {}: {stock:?}", all[0]);
    for memtable in &all[1..] {
        let learned = measure(memtable, workload);
        println!("mp_05 {workload} {memtable}: {learned:?}");
        for what in ["memtables", "resident"] {
            if learned[what] as f64 > 1.1 * stock[what] as f64 {
                failed.push(format!("{memtable}: {what} {} against {}", learned[what], stock[what]));
            }
        }
    }
    assert!(failed.is_empty(), "{workload}: {failed:#?}");
}

#[test]
fn mp_05_full_memtables() {
    many_families("keys");
    many_families("values");
}
