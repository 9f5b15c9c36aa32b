//! README says what the records say.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use mountdb_bench::claims::{Args, run};

fn args() -> Args {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    Args {
        record: root.join("bench/record"),
        readme: root.join("README.md"),
        check: true,
    }
}

#[test]
fn readme_says_what_the_records_say() {
    assert_eq!(run(&args()).unwrap(), ExitCode::SUCCESS, "run `mountdb claims`");
}

#[test]
fn a_nicer_number_is_found_and_written_back() {
    let dir = tempfile::tempdir().unwrap();
    let readme = dir.path().join("README.md");
    let right = fs::read_to_string(args().readme).unwrap();
    let at = right.find(" | stock | ").unwrap() + 11;
    let mut nicer = right.clone();
    nicer.replace_range(at..at + 1, "9");
    fs::write(&readme, &nicer).unwrap();

    let check = Args { readme, ..args() };
    assert_eq!(run(&check).unwrap(), ExitCode::FAILURE);
    assert_eq!(
        fs::read_to_string(&check.readme).unwrap(),
        nicer,
        "a check changes nothing"
    );
    let write = Args { check: false, ..check };
    assert_eq!(run(&write).unwrap(), ExitCode::SUCCESS);
    assert_eq!(fs::read_to_string(&write.readme).unwrap(), right);
}

#[test]
fn missing_records_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = Args {
        record: dir.path().to_owned(),
        ..args()
    };
    let error = format!("{:#}", run(&nothing).unwrap_err());
    assert!(error.contains("fillrandom-stock"), "{error}");
}
