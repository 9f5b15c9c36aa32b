//! A database of stock RocksDB gets learned indexes, is used with them, and goes back to stock.
//!
//! `cargo run --release --example enable [FOLDER]`; without a folder it takes a temporary one.

use std::error::Error;
use std::path::Path;

use mountdb::{IndexMode, LearnedIndex};
use rocksdb::{BottommostLevelCompaction, CompactOptions, DB, Options};

const KEYS: u64 = 100_000;

#[allow(dead_code, reason = "tests/cpp/tests/examples.rs calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args_os().nth(1) {
        Some(folder) => run(folder.as_ref()),
        None => run(tempfile::tempdir()?.path()),
    }
}

/// All steps, on one folder.
pub fn run(folder: &Path) -> Result<(), Box<dyn Error>> {
    // What the application does today.
    let mut options = Options::default();
    options.create_if_missing(true);
    let db = DB::open(&options, folder)?;
    write(&db, 0, KEYS)?;
    read(&db, KEYS, "stock")?;
    drop(db);

    // Alongside: new files carry both indexes, RocksDB's own serves the reads. The compaction writes the old files anew; forced,
    // because files in the last level would otherwise be left as they are.
    let alongside = LearnedIndex {
        index: IndexMode::Alongside,
        ..Default::default()
    };
    alongside.apply(&mut options)?;
    let db = DB::open(&options, folder)?;
    write(&db, KEYS, 2 * KEYS)?;
    db.flush()?;
    let mut all = CompactOptions::default();
    all.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
    db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &all);
    read(&db, 2 * KEYS, "alongside")?;
    drop(db);

    // Primary: the learned index serves the reads.
    LearnedIndex::default().apply(&mut options)?;
    let db = DB::open(&options, folder)?;
    write(&db, 2 * KEYS, 3 * KEYS)?;
    read(&db, 3 * KEYS, "primary")?;
    drop(db);

    // Rollback: leave the options away.
    let db = DB::open(&Options::default(), folder)?;
    read(&db, 3 * KEYS, "rolled back")
}

fn write(db: &DB, from: u64, to: u64) -> Result<(), rocksdb::Error> {
    (from..to).try_for_each(|number| db.put(format!("key {number:08}"), format!("value {number}")))
}

/// Every key of ours, one by one and in a scan.
fn read(db: &DB, count: u64, when: &str) -> Result<(), Box<dyn Error>> {
    for number in 0..count {
        let value = db.get(format!("key {number:08}"))?;
        if value != Some(format!("value {number}").into_bytes()) {
            return Err(format!("{when}: key {number} has the value {value:?}").into());
        }
    }
    let mut iterator = db.raw_iterator();
    iterator.seek("key ");
    let mut found = 0;
    while iterator.key().is_some_and(|key| key.starts_with(b"key ")) {
        found += 1;
        iterator.next();
    }
    iterator.status()?;
    if found != count {
        return Err(format!("{when}: a scan finds {found} of {count} keys").into());
    }
    println!("{when}: {found} keys");
    Ok(())
}
