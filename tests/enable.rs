//! docs/enable.md as a new user follows it: every command from top to bottom, every option and every line of code.
#![cfg(feature = "tools")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use rocksdb::{DB, IteratorMode, Options};

/// The fenced blocks of one language, in order.
fn blocks(language: &str) -> Vec<String> {
    let text = fs::read_to_string("docs/enable.md").unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(tag)) => open = Some((tag == language, String::new())),
            (None, None) => {}
            (Some(_), Some(_)) => {
                let (wanted, block) = open.take().expect("it is open");
                blocks.extend(wanted.then_some(block));
            }
            (Some((_, block)), None) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    assert!(open.is_none(), "a block of docs/enable.md has no end");
    assert!(!blocks.is_empty(), "docs/enable.md has no block of {language}");
    blocks
}

/// Four threads put, overwrite and delete, each in its own part of the keys, while RocksDB flushes and compacts; the process ends without a
/// flush.
fn load(folder: &Path) {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_write_buffer_size(128 << 10);
    options.set_target_file_size_base(256 << 10);
    let db = DB::open(&options, folder).unwrap();
    thread::scope(|scope| {
        for writer in 0..4u8 {
            let db = &db;
            scope.spawn(move || {
                for step in 0..20_000u32 {
                    let key = format!("{writer}/{:06}", step.wrapping_mul(2_654_435_761) % 8_000);
                    match step % 10 {
                        9 => db.delete(key).unwrap(),
                        _ => db.put(key, format!("{step:032}")).unwrap(),
                    }
                }
            });
        }
    });
}

fn contents(folder: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let db = DB::open(&Options::default(), folder).unwrap();
    let entries = db.iterator(IteratorMode::Start).map(|entry| entry.unwrap());
    entries.map(|(key, value)| (key.into_vec(), value.into_vec())).collect()
}

#[test]
fn commands() {
    let temporary = tempfile::tempdir().unwrap();
    let path = |name: &str| temporary.path().join(name);
    load(&path("db"));

    // The stock copy that judges: taken before, opened by stock RocksDB.
    fs::create_dir(path("stock")).unwrap();
    for entry in fs::read_dir(path("db")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), path("stock").join(entry.file_name())).unwrap();
    }
    let wanted = contents(&path("stock"));
    assert!(wanted.len() > 20_000, "{} keys", wanted.len());

    let program = Path::new(env!("CARGO_BIN_EXE_mountdb")).parent().unwrap();
    let search = std::env::join_paths(
        [program.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = Command::new("bash")
        .args(["-euxo", "pipefail", "-c", &blocks("sh").concat()])
        .current_dir(temporary.path())
        .env("PATH", search.unwrap())
        .env("DB", path("db"))
        .env("COPY", path("copy"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{}\n{text}", output.status);

    // No key lost: neither in the database, nor in the copy, which has one more.
    assert_eq!(contents(&path("db")), wanted);
    let mut copy = contents(&path("copy"));
    assert_eq!(copy.remove([0xff, 0xff, 0xff, 0x00].as_slice()), Some(vec![1]));
    assert_eq!(copy, wanted);
    // And the copy was opened with the learned memtable at all.
    let mut logs = fs::read_dir(path("copy")).unwrap().map(|entry| entry.unwrap());
    let alex = "Options.memtable_factory: AlexMemTableFactory";
    assert!(logs.any(|entry| {
        let log = entry.file_name().to_string_lossy().starts_with("LOG");
        log && fs::read_to_string(entry.path()).unwrap().contains(alex)
    }));
}

#[test]
fn option_strings() {
    for block in blocks("ini") {
        let mut options = Options::default();
        options.create_if_missing(true);
        mountdb::apply_option_string(&mut options, &block.trim().replace('\n', ";")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let db = DB::open(&options, folder.path()).unwrap();
        assert!(mountdb::memtable_stats(&db).is_some(), "{block}");
        db.put("key", "value").unwrap();
        db.flush().unwrap();
        let file = &db.live_files().unwrap()[0];
        let bytes = fs::read(folder.path().join(file.name.trim_start_matches('/'))).unwrap();
        let name = b"PgmIndexFactory";
        assert!(bytes.windows(name.len()).any(|window| window == name), "{block}");
    }
}

/// The examples, which tests/cpp runs, hold every line of code.
#[test]
fn code_is_that_of_the_examples() {
    for (language, example) in [("cpp", "examples/cpp/enable.cc"), ("c", "examples/c/enable.c")] {
        let text = fs::read_to_string(example).unwrap();
        for line in blocks(language).concat().lines().map(str::trim) {
            let found = text.lines().any(|other| other.trim() == line);
            assert!(found, "{example} has no line {line}");
        }
    }
}
