//! Panics at the border to C++, planted in processes of their own.

use std::env;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use rocksdb::DB;

use crate::harness::{MEMTABLE, PRIMARY, Shape, options};

const DIRECTORY: &str = "MOUNTDB_FAULT_DIRECTORY";
const ABORTED: i32 = 6;

/// Runs an ignored test of this binary in a process of its own.
pub fn run(test: &str) -> (Output, String) {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    (output, text)
}

pub fn directory() -> PathBuf {
    env::var(DIRECTORY).expect("started by a test").into()
}

#[test]
#[ignore = "runs in a process of its own, started by fb_01_a_panic_in_the_index_is_corruption"]
fn index_child() {
    let options = options(&Shape::default(), Some(PRIMARY));
    let db = DB::open(&options, directory()).unwrap();
    for number in 0..1000u64 {
        db.put(number.to_be_bytes(), b"first").unwrap();
    }
    db.flush().unwrap();
    db.put(0u64.to_be_bytes(), b"second").unwrap();
    mountdb::testing::inject_panic(true);
    let flush = db.flush().unwrap_err().to_string();
    assert!(
        flush.contains("Corruption") && flush.contains("planted fault"),
        "{flush}"
    );
    drop(db);
    let open = DB::open(&options, directory()).map(drop).unwrap_err().to_string();
    assert!(open.contains("Corruption") && open.contains("planted fault"), "{open}");

    mountdb::testing::inject_panic(false);
    let db = DB::open(&options, directory()).unwrap();
    assert_eq!(db.get(0u64.to_be_bytes()).unwrap().as_deref(), Some(&b"second"[..]));
    for number in 1..1000u64 {
        assert_eq!(db.get(number.to_be_bytes()).unwrap().as_deref(), Some(&b"first"[..]));
    }
    db.flush().unwrap();
    println!("index child done");
}

#[test]
fn fb_01_a_panic_in_the_index_is_corruption() {
    let (output, text) = run("faults::index_child");
    assert!(output.status.success(), "{}\n{text}", output.status);
    assert!(text.contains("index child done"), "{text}");
}

#[test]
#[ignore = "runs in a process of its own, started by fb_01_a_panic_in_the_memtable_aborts"]
fn memtable_child() {
    let options = options(&Shape::default(), Some(MEMTABLE));
    let db = DB::open(&options, directory()).unwrap();
    db.put(b"key", b"value").unwrap();
    println!("memtable child opened");
    mountdb::testing::inject_panic(true);
    // A flush switches to a new memtable.
    let _ = db.flush();
    println!("memtable child went on");
}

#[test]
fn fb_01_a_panic_in_the_memtable_aborts() {
    let (output, text) = run("faults::memtable_child");
    assert_eq!(output.status.signal(), Some(ABORTED), "{}\n{text}", output.status);
    assert!(
        text.contains("memtable child opened") && !text.contains("memtable child went on"),
        "{text}"
    );
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("planted fault"), "{message}");
}
