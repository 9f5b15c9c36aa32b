//! Questions that must be answered from what is in memory, and options that change under a running database.

use mountdb::LearnedIndex;
use rand::RngExt;
use rocksdb::statistics::Ticker;
use rocksdb::{DB, IteratorMode, ReadOptions};

use crate::harness::pair::open;
use crate::harness::{PRIMARY, REPLACE, Shape, WINDOW, WINDOW_REPLACE, options, seeded};

/// A database of `count` numbered keys in one file, opened anew, so that no data block is cached.
fn cold(directory: &std::path::Path, learned: Option<LearnedIndex>, count: u32) -> DB {
    let shape = Shape::default();
    let db = open(&options(&shape, learned), directory).unwrap();
    for i in 0..count {
        db.put(format!("key{i:08}"), format!("value{i}")).unwrap();
    }
    db.flush().unwrap();
    drop(db);
    open(&options(&shape, learned), directory).unwrap()
}

/// `value_found` of KeyMayExist promises that the value is the key's.
#[test]
fn key_may_exist_gives_no_value_that_was_not_read() {
    for learned in [None, Some(PRIMARY), Some(REPLACE), Some(WINDOW), Some(WINDOW_REPLACE)] {
        let directory = tempfile::tempdir().unwrap();
        let db = cold(directory.path(), learned, 2000);
        let family = db.cf_handle("default").unwrap();
        for i in 0..2000 {
            let (exists, value) = db.key_may_exist_cf_opt_value(&family, format!("key{i:08}"), &ReadOptions::default());
            assert!(exists, "{learned:?} {i}");
            if let Some(value) = value {
                assert_eq!(
                    value.as_ref() as &[u8],
                    format!("value{i}").as_bytes(),
                    "{learned:?} {i}"
                );
            }
        }
    }
}

/// SetOptions refuses what DB::Open refuses, and the database goes on writing with what it had.
#[test]
fn set_options_that_do_not_fit_are_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let db = open(&options(&Shape::default(), Some(PRIMARY)), directory.path()).unwrap();
    let set = |text| db.set_options(&[("block_based_table_factory", text)]);
    let fill = |round: u32| {
        for i in 0..1000u32 {
            db.put(format!("key{i:08}"), round.to_string()).unwrap();
        }
        db.flush().unwrap();
    };
    let error = set("{user_defined_index_factory=}").unwrap_err().to_string();
    assert!(
        error.contains("use_udi_as_primary_index requires user_defined_index_factory"),
        "{error}"
    );
    fill(1);
    set("{user_defined_index_factory=;use_udi_as_primary_index=false}").unwrap();
    fill(2);
    set("{user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}").unwrap();
    fill(3);
    for item in db.iterator(IteratorMode::Start) {
        assert_eq!(&*item.unwrap().1, b"3");
    }
}

/// Options of the index changed by SetOptions, good and bad, while files are written.
#[test]
fn set_options_of_the_index_while_writing() {
    let mut rng = seeded("set_options_of_the_index_while_writing");
    let texts = [
        "{user_defined_index_factory={mode=replace}}",
        "{user_defined_index_factory={mode=alongside}}",
        "{user_defined_index_factory={lookup=window}}",
        "{user_defined_index_factory={lookup=exact}}",
        "{user_defined_index_factory={id=pgm;mode=replace;lookup=window};use_udi_as_primary_index=true}",
        "{user_defined_index_factory={id=pgm;mode=alongside};use_udi_as_primary_index=false}",
        "{user_defined_index_factory={nonsense=1}}",
        "{user_defined_index_factory=}",
    ];
    for learned in [PRIMARY, REPLACE, WINDOW, WINDOW_REPLACE] {
        let directory = tempfile::tempdir().unwrap();
        let shape = Shape {
            write_buffer: 64 << 10,
            ..Shape::default()
        };
        let db = open(&options(&shape, Some(learned)), directory.path()).unwrap();
        for i in 0..20_000u32 {
            db.put(format!("key{:08}", i.wrapping_mul(7919) % 20_000), format!("value{i}"))
                .unwrap();
            if i % 200 == 0 {
                let text = texts[rng.random_range(0..texts.len())];
                let set = db.set_options(&[("block_based_table_factory", text)]);
                if i < 3000 {
                    println!("{text}: {set:?}");
                }
                // An option that has nothing to do with it can still be set.
                if let Err(error) = db.set_options(&[("disable_auto_compactions", "false")]) {
                    panic!("{learned:?} after {text} ({set:?}): {error}");
                }
            }
        }
        db.flush().unwrap();
        for mode in [IteratorMode::Start, IteratorMode::End] {
            let entries = db.iterator(mode).collect::<Result<Vec<_>, _>>().unwrap();
            assert_eq!(entries.len(), 20_000);
        }
        drop(db);
        let db = open(&options(&shape, Some(learned)), directory.path()).unwrap();
        for i in 0..20_000u32 {
            assert!(db.get(format!("key{i:08}")).unwrap().is_some(), "{learned:?} {i}");
        }
    }
}

/// A single key far from all others leaves no prefix to cut off: the rest start with equal eight bytes, and a window cannot tell
/// their blocks apart. The way to the right one must not be a walk.
#[test]
fn a_get_in_a_long_run_of_equal_numbers_reads_few_blocks() {
    const KEYS: u32 = 20_000;
    const GETS: u64 = 50;
    let shape = Shape {
        block_size: 256,
        file_size: 1 << 30,
        write_buffer: 64 << 20,
        ..Shape::default()
    };
    for learned in [PRIMARY, WINDOW, WINDOW_REPLACE] {
        let directory = tempfile::tempdir().unwrap();
        let mut options = options(&shape, Some(learned));
        options.enable_statistics();
        let db = open(&options, directory.path()).unwrap();
        let key = |i: u32| format!("bbbbbbbbbbbbbbbb{i:08}");
        db.put("a", "v").unwrap();
        for i in 0..KEYS {
            db.put(key(i), "v").unwrap();
        }
        db.compact_range(None::<&[u8]>, None::<&[u8]>);
        let looked = || {
            options.get_ticker_count(Ticker::BlockCacheDataHit) + options.get_ticker_count(Ticker::BlockCacheDataMiss)
        };
        let before = looked();
        for i in (0..KEYS).step_by((KEYS as usize).div_ceil(GETS as usize)) {
            assert!(db.get(key(i)).unwrap().is_some());
        }
        let each = (looked() - before) / GETS;
        println!("{learned:?}: {each} looks at data blocks in each get");
        assert!(each <= 60, "{learned:?}: {each} looks at data blocks for a get");
    }
}
