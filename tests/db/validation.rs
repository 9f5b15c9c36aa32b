//! Option strings and OPTIONS files.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use mountdb::{IndexMode, LearnedIndex};
use rocksdb::{Cache, DB, Env, IteratorMode, Options};

use crate::harness::{Shape, options};

const ALONGSIDE_ODD: LearnedIndex = LearnedIndex { memtable: true, skeleton_period: 3, index: IndexMode::Alongside };
const PRIMARY_ODD: LearnedIndex = LearnedIndex { memtable: true, skeleton_period: 7, index: IndexMode::Primary };

/// Lines of the newest OPTIONS file that name what is learned.
fn learned_lines(path: &Path) -> Vec<String> {
    let files = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let newest = files.filter(|file| file.file_name().unwrap().to_str().unwrap().starts_with("OPTIONS-")).max().unwrap();
    let text = fs::read_to_string(newest).unwrap();
    let names = ["memtable_factory", "user_defined_index_factory", "use_udi_as_primary_index", "skeleton_period"];
    let lines = text.lines().filter(|line| names.iter().any(|name| line.contains(name)));
    lines.map(|line| line.trim().to_owned()).collect()
}

fn load(path: &Path) -> Result<Options, rocksdb::Error> {
    let (options, mut families) = Options::load_latest(path, Env::new().unwrap(), false, Cache::new_lru_cache(1 << 20))?;
    drop(options);
    assert_eq!(families.len(), 1);
    Ok(families.remove(0).options().clone())
}

fn numbers(db: &DB) -> Vec<u64> {
    let items = db.iterator(IteratorMode::Start).map(Result::unwrap);
    items.map(|(key, _)| u64::from_be_bytes(key[..].try_into().unwrap())).collect()
}

fn fill(db: &DB, range: std::ops::Range<u64>) {
    range.for_each(|number| db.put(number.to_be_bytes(), b"value").unwrap());
    db.flush().unwrap();
}
