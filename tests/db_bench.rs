//! `mountdb db_bench`, `ldb` and `sst_dump`: RocksDB's tools with the learned indexes and the flags of `patches/`.
#![cfg(feature = "tools")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const LEARNED: [&str; 2] = ["--memtablerep=alex", "--user_defined_index=pgm"];

fn mountdb(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mountdb"))
        .args(arguments)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// Runs a tool that has to succeed and returns what it printed.
fn succeed(arguments: &[&str]) -> String {
    let output = mountdb(arguments);
    let text = text(&output);
    assert!(output.status.success(), "{arguments:?}: {}\n{text}", output.status);
    text
}

/// Runs a tool that has to exit with status 1 and returns what it printed.
fn fail(arguments: &[&str]) -> String {
    let output = mountdb(arguments);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}\n{text}");
    text
}

fn write_keys(path: &Path, count: u64, keys: &[u64]) -> String {
    let bytes: Vec<u8> = std::iter::once(count)
        .chain(keys.iter().copied())
        .flat_map(u64::to_le_bytes)
        .collect();
    fs::write(path, bytes).unwrap();
    format!("--keys_file={}", path.display())
}

/// The keys of the database in `directory` as hex strings, read by ldb.
fn scan(directory: &Path) -> Vec<String> {
    let text = succeed(&[
        "ldb",
        &format!("--db={}", directory.display()),
        "--key_hex",
        "--no_value",
        "scan",
    ]);
    text.lines()
        .filter(|line| line.starts_with("0x"))
        .map(|line| line[..18].to_ascii_lowercase())
        .collect()
}

struct Bench {
    directory: TempDir,
    db: String,
}

impl Bench {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let db = format!("--db={}", directory.path().join("db").display());
        Self { directory, db }
    }

    fn arguments<'a>(&'a self, flags: &[&'a str]) -> Vec<&'a str> {
        let common = [
            "db_bench",
            &self.db,
            "--compression_type=none",
            "--stats_interval_seconds=0",
        ];
        common.iter().chain(flags).copied().collect()
    }

    fn succeed(&self, flags: &[&str]) -> String {
        succeed(&self.arguments(flags))
    }

    fn fail(&self, flags: &[&str]) -> String {
        fail(&self.arguments(flags))
    }

    fn db(&self) -> std::path::PathBuf {
        self.directory.path().join("db")
    }

    /// The newest OPTIONS file that RocksDB wrote into the database.
    fn options(&self) -> std::path::PathBuf {
        let files = fs::read_dir(self.db()).unwrap().map(|entry| entry.unwrap().path());
        files
            .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("OPTIONS-"))
            .max()
            .unwrap()
    }
}

const BENCHMARKS: &str = "--benchmarks=fillrandom,overwrite,readrandom,multireadrandom,seekrandom,seekrandomwhilewriting,\
                          readwhilewriting,compact,readseq,readreverse,verifychecksum";

#[test]
fn every_benchmark_runs_with_both_indexes_and_again_from_the_options_file() {
    let bench = Bench::new();
    let size = [
        "--num=20000",
        "--threads=2",
        "--reads=5000",
        "--write_buffer_size=1000000",
    ];
    let run = bench.succeed(&[&LEARNED[..], &[BENCHMARKS], &size].concat());
    for name in BENCHMARKS.split_once('=').unwrap().1.split(',') {
        assert!(
            run.lines().any(|line| line.starts_with(name)),
            "{name} did not report:\n{run}"
        );
    }
    let options = fs::read_to_string(bench.options()).unwrap();
    assert!(options.contains("AlexMemTableFactory"), "{options}");
    assert!(options.contains("PgmIndexFactory"), "{options}");
    assert!(options.contains("use_udi_as_primary_index=true"), "{options}");

    let saved = bench.directory.path().join("saved.options");
    fs::copy(bench.options(), &saved).unwrap();
    let file = format!("--options_file={}", saved.display());
    bench.succeed(&[&[&file as &str, BENCHMARKS], &size[..]].concat());
    let again = fs::read_to_string(bench.options()).unwrap();
    assert!(
        again.contains("AlexMemTableFactory") && again.contains("PgmIndexFactory"),
        "{again}"
    );
}

#[test]
fn keys_come_from_the_file_as_eight_big_endian_bytes() {
    let bench = Bench::new();
    let keys = [0, 1, 7, 1 << 53, (1 << 53) + 1, u64::MAX - 1, u64::MAX];
    let file = write_keys(&bench.directory.path().join("keys"), keys.len() as u64, &keys);
    let number = format!("--num={}", keys.len());
    bench.succeed(&[&LEARNED[..], &[&file, &number, "--benchmarks=fillseq,flush,readrandom"]].concat());
    let expected: Vec<String> = keys.iter().map(|key| format!("{key:#018x}")).collect();
    assert_eq!(scan(&bench.db()), expected);
}

#[test]
fn fewer_keys_than_the_file_holds_are_a_prefix_of_it() {
    let bench = Bench::new();
    let file = write_keys(&bench.directory.path().join("keys"), 4, &[10, 20, 30, 40]);
    bench.succeed(&[&file, "--num=2", "--key_size=8", "--benchmarks=fillseq"]);
    assert_eq!(scan(&bench.db()), ["0x000000000000000a", "0x0000000000000014"]);
}

#[test]
fn key_spaces_beyond_the_file_are_refused() {
    let bench = Bench::new();
    let file = write_keys(&bench.directory.path().join("keys"), 3, &[1, 2, 3]);
    for flag in ["--num=4", "--merge_keys=4", "--numdistinct=4", "--bgwriter_num=4"] {
        let mut flags = vec![&file as &str, "--benchmarks=fillseq", "--num=3"];
        flags.push(flag);
        let text = bench.fail(&flags);
        assert!(
            text.contains(&format!("{flag} is more than the 3 keys of --keys_file")),
            "{text}"
        );
    }
    // The default of --num is a million.
    let text = bench.fail(&[&file, "--benchmarks=fillseq"]);
    assert!(text.contains("--num=1000000 is more than the 3 keys"), "{text}");
    // --writes is no key space, but fillseq numbers its keys by it.
    let text = bench.fail(&[&file, "--benchmarks=fillseq", "--num=3", "--writes=5"]);
    assert!(
        text.contains("key number 3 is beyond the 3 keys of --keys_file"),
        "{text}"
    );
}

#[test]
fn bad_keys_files_are_refused() {
    let bench = Bench::new();
    let path = bench.directory.path().join("keys");
    let refuse = |file: &str, expected: &str| {
        let text = bench.fail(&[file, "--num=2", "--benchmarks=fillseq"]);
        assert!(text.contains(expected), "expected {expected:?}:\n{text}");
    };
    refuse("--keys_file=/nowhere/keys", "--keys_file=/nowhere/keys: cannot read");
    refuse(&write_keys(&path, 3, &[1, 2]), "24 bytes cannot hold a count of 3");
    refuse(&write_keys(&path, 1, &[1, 2]), "24 bytes cannot hold a count of 1");
    refuse(
        &write_keys(&path, u64::MAX, &[1, 2]),
        "cannot hold a count of 18446744073709551615",
    );
    refuse(&write_keys(&path, 0, &[]), "8 bytes cannot hold a count of 0");
    refuse(&write_keys(&path, 3, &[1, 3, 2]), "key 2 is not sorted");
    fs::write(&path, [2, 0, 0, 0, 0, 0, 0, 0, 1]).unwrap();
    refuse(
        &format!("--keys_file={}", path.display()),
        "9 bytes cannot hold a count of 2",
    );
    fs::write(&path, []).unwrap();
    refuse(&format!("--keys_file={}", path.display()), "0 bytes cannot hold");
}

#[test]
fn flags_that_contradict_keys_file_are_refused() {
    let bench = Bench::new();
    let file = write_keys(&bench.directory.path().join("keys"), 3, &[1, 2, 3]);
    for (flag, expected) in [
        ("--key_size=16", "needs --key_size=8"),
        ("--keys_per_prefix=2", "excludes --keys_per_prefix"),
    ] {
        let text = bench.fail(&[&file, "--num=3", flag, "--benchmarks=fillseq"]);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn unknown_index_is_refused_by_name() {
    let bench = Bench::new();
    let text = bench.fail(&["--user_defined_index=nosuch", "--num=10", "--benchmarks=fillseq"]);
    assert!(
        text.contains("No user-defined index registered matching string: nosuch"),
        "{text}"
    );
    let text = bench.fail(&[
        "--user_defined_index=pgm",
        "--use_trie_index",
        "--num=10",
        "--benchmarks=fillseq",
    ]);
    assert!(text.contains("Cannot provide both"), "{text}");
}

#[test]
fn index_alongside_is_read_on_request() {
    let bench = Bench::new();
    let flags = [
        "--user_defined_index=pgm",
        "--user_defined_index_primary=false",
        "--num=5000",
    ];
    bench.succeed(
        &[
            &flags[..],
            &["--benchmarks=fillrandom,flush,readrandom,seekrandom,readseq"],
        ]
        .concat(),
    );
    let options = fs::read_to_string(bench.options()).unwrap();
    assert!(options.contains("use_udi_as_primary_index=false"), "{options}");
}

#[test]
fn sst_dump_reads_a_file_with_the_learned_index() {
    let bench = Bench::new();
    bench.succeed(&[&LEARNED[..], &["--num=1000", "--benchmarks=fillseq,flush"]].concat());
    let file = format!("--file={}", bench.db().display());
    let verified = succeed(&["sst_dump", &file, "--command=verify"]);
    assert!(verified.contains("The file is ok"), "{verified}");
    let scanned = succeed(&["sst_dump", &file, "--command=scan", "--output_hex"]);
    assert_eq!(scanned.lines().filter(|line| line.contains(" => ")).count(), 1000);
}

#[test]
fn stock_flags_stay_as_they_are() {
    let bench = Bench::new();
    bench.succeed(&[
        "--num=1000",
        "--use_trie_index",
        "--benchmarks=fillseq,flush,readrandom,readseq",
    ]);
    bench.succeed(&[
        "--num=1000",
        "--key_size=24",
        "--keys_per_prefix=10",
        "--prefix_size=8",
        "--benchmarks=fillrandom",
    ]);
    let keys = succeed(&["ldb", &bench.db, "--key_hex", "--no_value", "scan"]);
    assert!(
        keys.lines()
            .any(|line| line.starts_with("0x") && line.trim().len() == 2 + 48),
        "{keys}"
    );
}

#[test]
fn unknown_command_is_a_usage_error() {
    let output = mountdb(&["nosuch"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
}
