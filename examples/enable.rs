//! Switches both learned indexes on, uses the database, and switches them off again.
//!
//! `cargo run --release --example enable [FOLDER]`; without a folder it takes a temporary one.

use mountdb::{IndexMode, LearnedIndex};
use rocksdb::{BottommostLevelCompaction, CompactOptions, DB, IteratorMode, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| temporary.path().to_owned(), Into::into);

    let mut options = Options::default();
    options.create_if_missing(true);
    // A database that has files already starts with `IndexMode::Alongside` and a compaction; this one may be new.
    LearnedIndex {
        index: IndexMode::Alongside,
        ..Default::default()
    }
    .apply(&mut options)?;
    let db = DB::open(&options, &folder)?;
    for number in 0..100_000u64 {
        db.put(number.to_be_bytes(), format!("value {number}"))?;
    }
    db.flush()?;
    // Forced, because files in the last level would otherwise be left as they are.
    let mut all = CompactOptions::default();
    all.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
    db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &all);
    drop(db);

    // Every file has a learned index now: reads may rely on it.
    LearnedIndex::default().apply(&mut options)?;
    let db = DB::open(&options, &folder)?;
    assert_eq!(db.get(77u64.to_be_bytes())?.as_deref(), Some(b"value 77".as_slice()));
    println!(
        "with learned indexes: {} entries",
        db.iterator(IteratorMode::Start).count()
    );
    drop(db);

    // Rollback: leave the options away. The files carry RocksDB's own index too.
    let db = DB::open(&Options::default(), &folder)?;
    assert_eq!(db.get(77u64.to_be_bytes())?.as_deref(), Some(b"value 77".as_slice()));
    println!("without: {} entries", db.iterator(IteratorMode::Start).count());
    Ok(())
}
